// SPDX-License-Identifier: Apache-2.0

package wholefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shardyard/shardyard/internal/wholefile"
)

const mode os.FileMode = 0o640

// A file is replaced whole, with the mode that it is to have.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, content := range []string{"first and longer", "second"} {
		if err := wholefile.Write(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("the content is %q, want %q: %v", got, content, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || info.Mode() != mode {
		t.Errorf("the files are %v, the mode is %v, want one of mode %v: %v", left, info.Mode(), mode, err)
	}
	if err := wholefile.Write(filepath.Join(dir, "none", "file"), nil, mode); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v, want %v", err, os.ErrNotExist)
	}
}

// What cannot be written leaves what was there, and nothing of its own.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Write(path, []byte("content"), mode); err == nil {
		t.Error("a folder was written over")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left: %v", left, err)
	}
}
