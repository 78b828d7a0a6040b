// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"regexp"
	"testing"
)

// podPattern is a command about a pod or its volume claim, with the first thing
// in it that looks like the name of a node, and the number that the name of the
// pod has besides.
var podPattern = regexp.MustCompile("kubectl[^`|\n]* " +
	`(?:logs|exec|cp|port-forward|(?:annotate|debug|delete|describe|get|label) (?:pods?|pvc))` +
	"[ /][^`|;\n]*?" + `\b([a-z0-9-]+-(?:s\d+-p|[arv])\d+)(-0)?\b`)

// A pod is of the StatefulSet that is called like its node, and is its first.
func TestPodsAreNamedAsTheClusterDoes(t *testing.T) {
	found := 0
	for _, page := range listPages(t) {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range podPattern.FindAllStringSubmatch(string(content), -1) {
			found++
			if command[2] == "" {
				t.Errorf("%s: %s: the pod of the node %s is %[3]s-0", page, command[0], command[1])
			}
		}
	}
	if found == 0 {
		t.Error("no page has a command about the pod of a node")
	}
}
