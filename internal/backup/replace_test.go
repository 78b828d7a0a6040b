// SPDX-License-Identifier: Apache-2.0

package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shardyard/shardyard/internal/backup"
)

// A folder is replaced whole or not at all, whatever an earlier attempt left.
func TestReplace(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	for name, test := range map[string]struct {
		fails error
		want  string
	}{
		"whole":      {nil, "new"},
		"not at all": {broken, "old"},
	} {
		root := t.TempDir()
		data := filepath.Join(root, "data")
		for _, folder := range []string{data, data + ".restoring"} {
			if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "old"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		err := backup.Replace(data, func(partial string) error {
			return errors.Join(os.Mkdir(partial, 0o700), os.WriteFile(filepath.Join(partial, "new"), nil, 0o600), test.fails)
		})
		if !errors.Is(err, test.fails) {
			t.Errorf("%s: the error is %v", name, err)
		}
		in, err := os.ReadDir(data)
		if err != nil || len(in) != 1 || in[0].Name() != test.want {
			t.Errorf("%s: there is %v (%v)", name, in, err)
		}
		if beside, err := os.ReadDir(root); err != nil || len(beside) != 1 {
			t.Errorf("%s: beside it is %v (%v)", name, beside, err)
		}
	}
}
