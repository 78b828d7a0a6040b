// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"testing"
)

// contractRow is a row of the table of metrics in docs/node-contract.md.
var contractRow = regexp.MustCompile("(?m)^\\| `(shardnode_[a-z0-9_]+)` \\| (counter|gauge|histogram) \\|")

// contract is the kind of every series that a node exports.
func contract(t *testing.T) map[string]string {
	t.Helper()
	document, err := os.ReadFile("../../docs/node-contract.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, row := range contractRow.FindAllStringSubmatch(string(document), -1) {
		name, kind := row[1], row[2]
		if kind != "histogram" {
			kinds[name] = kind
			continue
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			kinds[name+suffix] = "counter"
		}
	}
	if len(kinds) == 0 {
		t.Fatal("the node contract lists no metrics")
	}
	return kinds
}
