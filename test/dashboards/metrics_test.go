// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/test/dashboards"
)

// What a network of the largest preset has, and how many series a Prometheus is
// to hold of it at most.
const (
	largeShards, largeNodes = 70, 140
	mostSeries              = 150_000
	// leastLibraries is what docs/guides/dashboards.md says of what is dropped.
	leastLibraries = 500_000
)

// metricRow is a row of a node's metric in the list of all metrics: name, type,
// labels and meaning.
var metricRow = regexp.MustCompile("(?m)^\\| `(shardnode_[a-z0-9_]+)` \\| ([a-z]+) \\| [^|]* \\| ([^|]*) \\| (.*) \\|$")

// metric is a metric as it is listed.
type metric struct {
	kind    string
	labels  []string
	meaning string
}

// own is the label that is the metric's alone, and not of every series or shard.
func (m metric) own() string {
	for _, label := range m.labels {
		if !slices.Contains([]string{"network", "region", "node", "shard"}, label) {
			return label
		}
	}
	return ""
}

// mostValues is how many values a metric's own label has at most: as many as its
// meaning has words in code after the label.
func (m metric) mostValues() int {
	_, values, _ := strings.Cut(m.meaning, "by `"+m.own()+"`")
	return strings.Count(values, "`") / 2
}

// conditional says that a metric may have no series, and why.
func (m metric) conditional() bool {
	// Before the first of its kind is counted, or where there is nothing to tell of.
	return m.kind == "counter" && m.own() != "" || strings.Contains(m.meaning, "absent")
}

// listed are the metrics of nodes that docs/metrics.md lists.
func listed(t *testing.T) map[string]metric {
	t.Helper()
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := map[string]metric{}
	for _, row := range metricRow.FindAllStringSubmatch(string(page), -1) {
		metrics[row[1]] = metric{row[2], strings.Split(strings.ReplaceAll(row[3], "`", ""), ", "), row[4]}
	}
	if len(metrics) == 0 {
		t.Fatal("docs/metrics.md lists no metrics of nodes")
	}
	return metrics
}

// familyOf is the metric that a series belongs to.
func familyOf(metrics map[string]metric, series string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if family, found := strings.CutSuffix(series, suffix); found && metrics[family].kind == "histogram" {
			return family
		}
	}
	return series
}

// checkMetrics checks that nodes export what the list of all metrics says, and
// nothing else of their own, and that the guide says how many series that comes to.
func checkMetrics(t *testing.T, prometheus *dashboards.Prometheus) {
	t.Helper()
	metrics := listed(t)
	exported := seriesOf(t, prometheus, `{__name__=~"shardnode_.*"}`)
	node := exported[0]["node"]
	found := map[string]int{}
	for _, series := range exported {
		name := familyOf(metrics, series["__name__"])
		checkLabels(t, name, metrics, series)
		if series["node"] == node {
			found[name]++
		}
	}
	checkKinds(t, prometheus, metrics, found)
	checkNumber(t, metrics, found)
	checkLibraries(t, prometheus, node)
}

// checkLabels checks that a series has the labels that are listed.
func checkLabels(t *testing.T, name string, metrics map[string]metric, series map[string]string) {
	t.Helper()
	metric, isListed := metrics[name]
	if !isListed {
		t.Errorf("%s is not in docs/metrics.md", name)
		return
	}
	for label := range series {
		if !slices.Contains(append(metric.labels, "__name__", "le", "job", "instance"), label) {
			t.Errorf("docs/metrics.md does not say that %s has a label %s", name, label)
		}
	}
	for _, label := range metric.labels {
		if series[label] == "" {
			t.Errorf("docs/metrics.md says that %s has a label %s: %v", name, label, series)
		}
	}
}

// checkKinds checks that what is listed is there, and of the kind that is said.
func checkKinds(t *testing.T, prometheus *dashboards.Prometheus, metrics map[string]metric, found map[string]int) {
	t.Helper()
	known, err := prometheus.Metadata(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, metric := range metrics {
		kind := ""
		// Counters are known without _total.
		for _, metadata := range known[strings.TrimSuffix(name, "_total")] {
			kind = string(metadata.Type)
		}
		switch {
		case found[name] > 0 && kind != metric.kind:
			t.Errorf("docs/metrics.md says that %s is a %s, nodes say %q", name, metric.kind, kind)
		case found[name] == 0 && !metric.conditional():
			t.Errorf("%s is in docs/metrics.md and no node exports it", name)
		}
	}
}

// checkNumber checks how many series there are at most, and that the guide says
// the same. A node has as many of each metric as were found.
func checkNumber(t *testing.T, metrics map[string]metric, found map[string]int) {
	t.Helper()
	perNode, perShard := 0, 0
	for name, metric := range metrics {
		switch {
		case slices.Contains(metric.labels, "shard"):
			perShard++
		case slices.Contains(metric.labels, "peer_region"):
			// Of networks with links alone, and these are small.
		case metric.own() != "":
			perNode += metric.mostValues()
		default:
			perNode += max(1, found[name])
		}
	}
	total := largeNodes * (perNode + largeShards*perShard)
	if total > mostSeries {
		t.Errorf("a network of %d shards and %d nodes has %d series, want at most %d", largeShards, largeNodes, total, mostSeries)
	}
	guide, err := os.ReadFile("../../docs/guides/dashboards.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		fmt.Sprintf("at most %d series that begin with `shardnode_`, and %d more for each shard", perNode, perShard),
		fmt.Sprintf("A network of %d shards and %d nodes has %s of them in all.", largeShards, largeNodes, grouped(total)),
	} {
		if !strings.Contains(string(guide), words) {
			t.Errorf("docs/guides/dashboards.md does not say: %s", words)
		}
	}
}

// checkLibraries checks that what libraries export is worth dropping.
func checkLibraries(t *testing.T, prometheus *dashboards.Prometheus, node string) {
	t.Helper()
	instance := seriesOf(t, prometheus, fmt.Sprintf(`shardnode_height{node=%q}`, node))[0]["instance"]
	perNode, perPeer, peers := 0, 0, map[string]bool{}
	for _, series := range seriesOf(t, prometheus, fmt.Sprintf(`{instance=%q, __name__!~"shardnode_.*"}`, instance)) {
		if series["peer"] == "" {
			perNode++
			continue
		}
		perPeer++
		peers[series["peer"]] = true
	}
	total := largeNodes * (perNode + (largeNodes-1)*perPeer/max(1, len(peers)))
	t.Logf("of %d shards and %d nodes, libraries export %s series", largeShards, largeNodes, grouped(total))
	if total < leastLibraries {
		t.Errorf("libraries export %d series, want at least %d, as the guide says", total, leastLibraries)
	}
}

func seriesOf(t *testing.T, prometheus *dashboards.Prometheus, selector string) []map[string]string {
	t.Helper()
	found, _, err := prometheus.Series(t.Context(), []string{selector}, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("there are no series %s", selector)
	}
	series := make([]map[string]string, len(found))
	for i, labels := range found {
		series[i] = map[string]string{}
		for label, value := range labels {
			series[i][string(label)] = string(value)
		}
	}
	return series
}

// grouped is a number with commas.
func grouped(number int) string {
	text := strconv.Itoa(number)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
