// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every crate of the node has a row in the README's table, so that whoever
// looks for a part of the protocol finds where it is.
func TestEveryCrateHasARow(t *testing.T) {
	readme := read(t, filepath.Join(root, "README.md"))
	manifests := []string{filepath.Join(root, "node", "fuzz", "Cargo.toml")}
	for _, folder := range []string{"bin", "crates"} {
		found, err := filepath.Glob(filepath.Join(root, "node", folder, "*", "Cargo.toml"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Errorf("node/%s has no crates", folder)
		}
		manifests = append(manifests, found...)
	}
	rows := 0
	for _, manifest := range manifests {
		crate, err := filepath.Rel(root, filepath.Dir(manifest))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(readme, "| `"+crate+"/` | ") {
			t.Errorf("README.md has no row for %s", crate)
		}
		rows++
	}
	if listed := strings.Count(readme, "\n| `node/"); listed != rows+1 {
		t.Errorf("README.md has %d rows of node/, for %d crates", listed, rows)
	}
}
