// SPDX-License-Identifier: Apache-2.0

// Package catalogue lists every series that Shardyard exports or has recorded:
// what nodes export by the node contract, what kube-state-metrics is told to
// make of our kinds, what the operator counts itself, and what rules record. Each
// is said in one place of the repository, and is read from there.
package catalogue

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardyard/shardyard/dashboards/generator/rules"
)

// Kinds of metrics.
const (
	Counter   = "counter"
	Gauge     = "gauge"
	Histogram = "histogram"
)

// Metric is a metric with all its series.
type Metric struct {
	Name, Kind string
	// Labels are those that tell its series apart.
	Labels []string
	Help   string
	// Exemplars says whether a histogram leads from its buckets to traces.
	Exemplars bool
}

// Source is a process, and what it exports.
type Source struct {
	Name string
	// About says how to get at the metrics.
	About   string
	Metrics []Metric
}

// Series is what can be asked of one.
type Series struct {
	Kind   string
	Labels []string
}

// Read reads the catalogue of the repository whose root this is.
func Read(root string) ([]Source, error) {
	nodes, err := contract(filepath.Join(root, "docs", "node-contract.md"))
	if err != nil {
		return nil, err
	}
	reported, err := kubeState(filepath.Join(root, "dashboards", "kube-state-metrics", "config.yaml"))
	if err != nil {
		return nil, err
	}
	counted, err := operator(filepath.Join(root, "controllers"))
	if err != nil {
		return nil, err
	}
	return []Source{
		{"Nodes", "`GET /metrics` of every node. [The node contract](node-contract.md#metrics) is what holds for all " +
			"implementations.", nodes},
		{"kube-state-metrics", "With [the configuration of this repository]" +
			"(guides/dashboards.md#networks-and-benchmarks-as-kube-state-metrics-sees-them). " +
			"What a status does not say has no series.", reported},
		{"The operator", "Over HTTPS, for callers that may get `/metrics`, beside the metrics of its libraries " +
			"(`controller_runtime_*`, `workqueue_*`, `rest_client_*` and those of Go).", counted},
		{"Prometheus", "Recorded by [`dashboards/rules.yaml`](../dashboards/rules.yaml).", recorded()},
	}, nil
}

// Of is every series of some sources, by its name.
func Of(sources []Source) map[string]Series {
	all := map[string]Series{}
	for _, source := range sources {
		for _, metric := range source.Metrics {
			if metric.Kind != Histogram {
				all[metric.Name] = Series{metric.Kind, metric.Labels}
				continue
			}
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				all[metric.Name+suffix] = Series{Counter, metric.Labels}
			}
		}
	}
	return all
}

// Unit is the unit of a metric, which its name ends with.
func (m Metric) Unit() string {
	name := m.Name
	// What is recorded has its unit in the middle.
	if parts := strings.Split(name, ":"); len(parts) > 1 {
		name = parts[1]
	}
	name = strings.TrimSuffix(name, "_total")
	for suffix, unit := range map[string]string{
		"_milliseconds": "milliseconds", "_seconds": "seconds", "_bytes": "bytes", "_height": "blocks", "_tps": "transfers per second",
		"_transfers_per_second": "transfers per second", "_usd_per_hour": "US dollars per hour", "_created": "seconds since 1970",
		"_end_time": "seconds since 1970", "_stake": "stake",
	} {
		if strings.HasSuffix(name, suffix) {
			return unit
		}
	}
	return ""
}

func recorded() []Metric {
	var metrics []Metric
	for _, group := range rules.All().Groups {
		for _, rule := range group.Rules {
			if rule.Record == "" {
				continue
			}
			metrics = append(metrics, Metric{
				Name: rule.Record, Kind: Gauge, Labels: rules.LabelsOf(rule.Record), Help: rules.About(rule.Record),
			})
		}
	}
	return metrics
}

// introduction is what the page says before its tables.
const introduction = "# Metrics\n\n" +
	"<!-- Written by make generate from dashboards/generator/catalogue. -->\n\n" +
	"Every metric of Shardyard, by the process that exports it. A histogram has the series `_bucket`, `_sum` and `_count`. " +
	"Without a unit, a metric counts things, or is a part of them. [The guide](guides/dashboards.md#how-many-series-there-are) " +
	"says how many series a network has.\n"

// Page is the catalogue as a page of Markdown.
func Page(sources []Source) string {
	var page strings.Builder
	page.WriteString(introduction)
	for _, source := range sources {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| name | type | unit | labels | meaning |\n|---|---|---|---|---|\n", source.Name, source.About)
		for _, metric := range source.Metrics {
			labels := slices.Clone(metric.Labels)
			for i, label := range labels {
				labels[i] = "`" + label + "`"
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s |\n",
				metric.Name, metric.Kind, metric.Unit(), strings.Join(labels, ", "), metric.Help)
		}
	}
	return page.String()
}
