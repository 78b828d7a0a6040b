// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/shardyard/shardyard/dashboards/generator/catalogue"
)

// values stand for Grafana's own variables and the dashboards'.
var values = strings.NewReplacer(
	"$__rate_interval", "1m",
	"$__range", "30m",
	"$earlier", "1d",
	"$namespace", "a",
	"$network", "b",
	"$node", "e",
	"$region", "c",
	"$shard", "d",
	"$target", "1.5",
)

// seriesLabels are what series may be chosen and grouped by: the labels of the
// node contract, those of histograms, and those that Prometheus adds.
var seriesLabels = []string{"__name__", "network", "region", "node", "shard", "le", "namespace", "instance"}

// Every query is PromQL over series that nodes export, used as what they are:
// counters through their increase, gauges directly.
func TestQueriesFollowTheContract(t *testing.T) {
	exported := known(t)
	for name, dashboard := range inTree(t) {
		t.Run(name, func(t *testing.T) {
			for _, panel := range dashboard.Panels {
				if panel.RowPanel != nil {
					continue
				}
				if len(panel.Panel.Targets) == 0 {
					t.Errorf("panel %s has no query", *panel.Panel.Title)
				}
				refIDs := map[string]bool{}
				for _, target := range panel.Panel.Targets {
					query := target.(*prometheus.Dataquery)
					if refIDs[*query.RefId] || *query.RefId == "" {
						t.Errorf("a query of panel %s has reference %q", *panel.Panel.Title, *query.RefId)
					}
					refIDs[*query.RefId] = true
					checkQuery(t, *panel.Panel.Title, query.Expr, exported)
				}
			}
		})
	}
}

func TestVariablesFollowTheContract(t *testing.T) {
	exported := known(t)
	for name, dashboard := range inTree(t) {
		t.Run(name, func(t *testing.T) {
			for _, variable := range dashboard.Templating.List {
				if variable.Type != "query" {
					continue
				}
				series, found := strings.CutPrefix(*variable.Query.String, "label_values(")
				series, isOwn := strings.CutSuffix(series, ", "+variable.Name+")")
				if !found || !isOwn {
					t.Errorf("variable %s offers %s, not the values of its label", variable.Name, *variable.Query.String)
					continue
				}
				expression, err := parser.NewParser(parser.Options{}).ParseExpr(values.Replace(series))
				if err != nil {
					t.Errorf("variable %s: %v", variable.Name, err)
					continue
				}
				checkSelector(t, "variable "+variable.Name, expression.(*parser.VectorSelector), exported)
			}
		})
	}
}

// checkQuery checks a query of a dashboard, with its variables.
func checkQuery(t *testing.T, title, query string, exported map[string]catalogue.Series) {
	t.Helper()
	query = values.Replace(query)
	if strings.Contains(query, "$") {
		t.Errorf("%s: no dashboard has all variables of %s", title, query)
	}
	checkExpression(t, title, query, exported)
}

func checkExpression(t *testing.T, title, query string, exported map[string]catalogue.Series) {
	t.Helper()
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %s: %v", title, query, err)
		return
	}
	// What series are grouped by, at least one of them has.
	labels := slices.Clone(seriesLabels)
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if selector, isSelector := node.(*parser.VectorSelector); isSelector {
			labels = append(labels, exported[selector.Name].Labels...)
		}
		return nil
	})
	parser.Inspect(expression, func(node parser.Node, path []parser.Node) error {
		switch node := node.(type) {
		case *parser.AggregateExpr:
			for _, label := range node.Grouping {
				if !slices.Contains(labels, label) {
					t.Errorf("%s groups by %s, which no series has", title, label)
				}
			}
		case *parser.VectorSelector:
			checkSelector(t, title, node, exported)
			if counted := increases(path); counted != (exported[node.Name].Kind == "counter") {
				t.Errorf("%s uses %s, a %s, as something else", title, node.Name, exported[node.Name].Kind)
			}
		}
		return nil
	})
}

func checkSelector(t *testing.T, title string, selector *parser.VectorSelector, exported map[string]catalogue.Series) {
	t.Helper()
	if exported[selector.Name].Kind == "" {
		t.Errorf("%s queries %s, which nobody exports", title, selector.Name)
	}
	for _, matcher := range selector.LabelMatchers {
		if !slices.Contains(seriesLabels, matcher.Name) && !slices.Contains(exported[selector.Name].Labels, matcher.Name) {
			t.Errorf("%s chooses %s by %s, which no series has", title, selector.Name, matcher.Name)
		}
	}
}

// increases says whether what is below these nodes is a counter's increase.
func increases(path []parser.Node) bool {
	for _, node := range path {
		if call, isCall := node.(*parser.Call); isCall && slices.Contains([]string{"increase", "rate"}, call.Func.Name) {
			return true
		}
	}
	return false
}
