// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every kind of the API has a table of its fields, so that a field of a new kind fails
// as well that is accepted and not applied.
func TestEveryKindHasATable(t *testing.T) {
	t.Parallel()
	definitions, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(definitions) == 0 {
		t.Fatalf("there are no definitions: %v", err)
	}
	tables, err := filepath.Glob("../../controllers/*/fields_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, table := range tables {
		content, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range []string{".CheckEffects(t)", ".CheckErrors(t)"} {
			if !strings.Contains(string(content), check) {
				t.Errorf("%s does not call %s", table, check)
			}
		}
		all.Write(content)
	}
	for _, definition := range definitions {
		if name := filepath.Base(definition); !strings.Contains(all.String(), `"`+name+`"`) {
			t.Errorf("no table is of %s", name)
		}
	}
}
