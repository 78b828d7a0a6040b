// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// contractRow is a row of the table of metrics in the node contract, and
// contractLabel a label of its own that the metric has according to it: with its
// values, or the shard.
var (
	contractRow   = regexp.MustCompile("(?m)^\\| `(shardnode_[a-z0-9_]+)` \\| (counter|gauge|histogram) \\| (.*) \\|$")
	contractLabel = regexp.MustCompile("by `([a-z_]+)` \\(|by `([a-z_]+)`:|(?:per|each) `(shard)`")
)

// exemplars is where the contract says what those of a histogram are.
const exemplars = "(node-contract.md#exemplars)"

// ofEveryNode are the labels of every series of a node.
var ofEveryNode = []string{"network", "region", "node"}

// contract is what the node contract lists.
func contract(file string) ([]Metric, error) {
	document, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var metrics []Metric
	for _, row := range contractRow.FindAllStringSubmatch(string(document), -1) {
		metric := Metric{
			Name: row[1], Kind: row[2], Labels: slices.Clone(ofEveryNode), Help: row[3], Exemplars: strings.Contains(row[3], exemplars),
		}
		for _, found := range contractLabel.FindAllStringSubmatch(row[3], -1) {
			metric.Labels = append(metric.Labels, strings.Join(found[1:], ""))
		}
		metrics = append(metrics, metric)
	}
	if len(metrics) == 0 {
		return nil, fmt.Errorf("%s lists no metrics", file)
	}
	return metrics, nil
}
