// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// conflictPattern is a line that git writes into a file which it cannot merge. The line
// between both sides is left out: it is also how a heading can be underlined.
var conflictPattern = regexp.MustCompile(`(?m)^(<{7}|\|{7}|>{7})( .*)?\r?$`)

// unkept are folders of which git keeps nothing: what is fetched and built.
var unkept = []string{".git", ".terraform", "node_modules", "target", "../bin", "../dist", "../results"}

// No text of this repository is one that was merged by halves.
func TestNoConflictMarkers(t *testing.T) {
	texts := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(unkept, entry.Name()) || slices.Contains(unkept, filepath.ToSlash(path))):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
			return nil
		}
		texts++
		for _, at := range conflictPattern.FindAllIndex(content, -1) {
			t.Errorf("%s:%d has a conflict marker: %s", path, bytes.Count(content[:at[0]], []byte("\n"))+1, content[at[0]:at[1]])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts == 0 {
		t.Error("there are no texts")
	}
}
