// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// namePattern is a label, a taint, an annotation, a finalizer or an API version.
var namePattern = regexp.MustCompile(regexp.QuoteMeta(v1alpha1.GroupVersion.Group) + `/[a-z0-9-]+`)

// A name that a chart, a script, Terraform or a page uses is one that the
// operator uses.
func TestNamesAreTheOperators(t *testing.T) {
	known := []string{v1alpha1.GroupVersion.String()}
	for _, folder := range []string{"api", "controllers", "internal"} {
		walk(t, folder, func(path, content string) {
			if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				known = append(known, namePattern.FindAllString(content, -1)...)
			}
		})
	}
	found := 0
	for _, folder := range []string{"charts", "config", "docs", "hack", "terraform"} {
		walk(t, folder, func(path, content string) {
			if filepath.Ext(path) == ".go" {
				return
			}
			for _, name := range namePattern.FindAllString(content, -1) {
				found++
				if !slices.Contains(known, name) {
					t.Errorf("%s names %s, which the operator does not know", path, name)
				}
			}
		})
	}
	if found == 0 {
		t.Error("nothing names anything")
	}
}

// walk reads every file of a folder.
func walk(t *testing.T, folder string, read func(path, content string)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read(path, string(content))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
