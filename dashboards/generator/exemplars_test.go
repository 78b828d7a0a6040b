// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/shardyard/shardyard/dashboards/generator/catalogue"
)

// exemplary are the series that have exemplars by the node contract.
func exemplary(t *testing.T) map[string]bool {
	t.Helper()
	sources, err := catalogue.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]bool{}
	for _, source := range sources {
		for _, metric := range source.Metrics {
			if !metric.Exemplars {
				continue
			}
			if metric.Kind != catalogue.Histogram {
				t.Errorf("%s has exemplars and is a %s", metric.Name, metric.Kind)
			}
			series[metric.Name+"_bucket"] = true
		}
	}
	return series
}

// Whoever sees in a graph that something took long finds the trace of it: of each choice
// of buckets that have exemplars, a graph asks for these once, and nothing else asks for
// any.
func TestGraphsAskForExemplars(t *testing.T) {
	have := exemplary(t)
	graphs := map[string]bool{}
	for name, dashboard := range inTree(t) {
		for _, panel := range dashboard.Panels {
			if panel.RowPanel != nil {
				continue
			}
			asked := map[string]int{}
			for _, target := range panel.Panel.Targets {
				query := target.(*prometheus.Dataquery)
				asks := query.Exemplar != nil && *query.Exemplar
				for selector, series := range selectors(t, query.Expr) {
					if asks {
						asked[selector]++
					}
					if !have[series] && asks {
						t.Errorf("%s: %q asks for exemplars of %s, which has none", name, *panel.Panel.Title, series)
					}
					if have[series] && panel.Panel.Type == "timeseries" {
						asked[selector] += 0
						graphs[series] = true
					}
				}
			}
			for selector, times := range asked {
				if times != 1 {
					t.Errorf("%s: %q asks %d times for the exemplars of %s", name, *panel.Panel.Title, times, selector)
				}
			}
		}
	}
	if len(graphs) != len(have) {
		t.Errorf("graphs have the exemplars of %v, and nodes those of %v", graphs, have)
	}
}

// selectors are what a query of a dashboard chooses series by, with the name of these.
func selectors(t *testing.T, query string) map[string]string {
	t.Helper()
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(values.Replace(query))
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	found := map[string]string{}
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if selector, isSelector := node.(*parser.VectorSelector); isSelector {
			found[selector.String()] = selector.Name
		}
		return nil
	})
	return found
}
