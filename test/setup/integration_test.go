// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// partsPattern finds what hack/parts.sh is to make, on one line or on more.
var partsPattern = regexp.MustCompile(`hack/parts\.sh ((?:[a-z0-9+,-]+(?:[ \t]|\\\n)*)+)`)

// parts are the targets that a script makes by way of hack/parts.sh.
func parts(t *testing.T, script string) []string {
	t.Helper()
	found := partsPattern.FindStringSubmatch(script)
	if found == nil {
		t.Fatalf("no parts are made by\n%s", script)
	}
	return strings.FieldsFunc(found[1], func(r rune) bool { return strings.ContainsRune("+, \t\n\\", r) })
}

// Continuous integration makes the parts of make test in an order of its own, beside more.
func TestContinuousIntegrationMakesAllOfTest(t *testing.T) {
	t.Parallel()
	test, err := recipe("test")
	if err != nil {
		t.Fatal(err)
	}
	integration, err := os.ReadFile(root + "/.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	made := parts(t, string(integration))
	wanted := parts(t, test)
	for _, part := range wanted {
		if !slices.Contains(made, part) {
			t.Errorf("it does not make %s, of %q", part, wanted)
		}
	}
}
