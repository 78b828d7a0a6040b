// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"testing"
)

// contractRow is a row of the table of metrics in docs/node-contract.md, and contractLabel a label of its own that the
// metric has according to it.
var (
	contractRow   = regexp.MustCompile("(?m)^\\| `(shardnode_[a-z0-9_]+)` \\| (counter|gauge|histogram) \\|(.*)")
	contractLabel = regexp.MustCompile("by `([a-z]+)` \\(")
)

// series is what the node contract says of one.
type series struct {
	kind   string
	labels []string
}

// contract is every series that a node exports.
func contract(t *testing.T) map[string]series {
	t.Helper()
	document, err := os.ReadFile("../../docs/node-contract.md")
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]series{}
	for _, row := range contractRow.FindAllStringSubmatch(string(document), -1) {
		name, one := row[1], series{kind: row[2]}
		for _, label := range contractLabel.FindAllStringSubmatch(row[3], -1) {
			one.labels = append(one.labels, label[1])
		}
		if one.kind != "histogram" {
			exported[name] = one
			continue
		}
		one.kind = "counter"
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			exported[name+suffix] = one
		}
	}
	if len(exported) == 0 {
		t.Fatal("the node contract lists no metrics")
	}
	return exported
}
