// SPDX-License-Identifier: Apache-2.0

package backup_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/backup"
)

// place is the folder of a network with these files.
func place(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// kept is a backup of a network with one node.
func kept(t *testing.T) (folder string) {
	t.Helper()
	from := place(t, map[string]string{
		"genesis.json": "{}", "nodes/a/data/blobs/0": "zero", "nodes/a/data/blobs/1": "", "nodes/b/data/blobs/0": "not wanted",
	})
	folder = filepath.Join(t.TempDir(), "kept")
	manifest := &backup.Manifest{Network: "small", GenesisHash: "6f1c", Nodes: []backup.Node{{Name: "a", Formats: "3"}}}
	if err := backup.Write(t.Context(), manifest, from, folder, []string{"genesis.json", "nodes/a/data"}); err != nil {
		t.Fatal(err)
	}
	return folder
}

// verify reads a backup and checks its files.
func verify(t *testing.T, folder string) error {
	t.Helper()
	manifest, err := backup.Read(folder)
	if err != nil {
		return err
	}
	return manifest.Verify(t.Context(), folder)
}

func TestWhatIsKeptComesBack(t *testing.T) {
	t.Parallel()
	folder := kept(t)
	manifest, err := backup.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Node("a") == nil || manifest.Node("a").Formats != "3" || manifest.Node("b") != nil || len(manifest.Files) != 3 {
		t.Errorf("the manifest is %+v", manifest)
	}
	if err := manifest.Verify(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "data")
	if err := manifest.Put(t.Context(), folder, filepath.Join("nodes", "a", "data"), to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"blobs/0": "zero", "blobs/1": ""} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	if entries, err := os.ReadDir(to); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v (%v), want blobs alone", entries, err)
	}
}

func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	write := func(name, content string) func(*testing.T, string) {
		return func(t *testing.T, folder string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, folder string) {
			t.Helper()
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := map[string]struct {
		change func(*testing.T, string)
		want   string
	}{
		"nothing":            {func(*testing.T, string) {}, ""},
		"another byte":       {write("nodes/a/data/blobs/0", "zerO"), "nodes/a/data/blobs/0 has the checksum"},
		"a file cut short":   {write("nodes/a/data/blobs/0", "zer"), "nodes/a/data/blobs/0 has 3 bytes, and had 4"},
		"a missing file":     {remove("nodes/a/data/blobs/1"), "lacks nodes/a/data/blobs/1"},
		"no manifest":        {remove(backup.ManifestFile), "is no complete backup"},
		"no manifest's form": {write(backup.ManifestFile, "{"), "read "},
		"another version":    {write(backup.ManifestFile, `{"version": 2}`), "has version 2, and this program reads 1"},
		"a path that leads out": {
			write(backup.ManifestFile, `{"version": 1, "files": [{"path": "../genesis.json"}]}`), "leads out of the backup",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := kept(t)
			test.change(t, folder)
			err := verify(t, folder)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// A backup that fails leaves nothing, and takes no place that is not its own.
func TestBackupsAreWholeOrNotThere(t *testing.T) {
	t.Parallel()
	from := place(t, map[string]string{"genesis.json": "{}"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	link := place(t, nil)
	if err := os.Symlink("elsewhere", filepath.Join(link, "data")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		ctx   context.Context
		from  string
		paths []string
		want  string
	}{
		"a file that is not there": {t.Context(), from, []string{"genesis.json", "peers.json"}, "no such file"},
		"somebody ends it":         {ended, from, []string{"genesis.json"}, "context canceled"},
		"no file of a node":        {t.Context(), link, []string{"data"}, "is no file that a node writes"},
	} {
		to := filepath.Join(t.TempDir(), "kept")
		err := backup.Write(test.ctx, &backup.Manifest{}, test.from, to, test.paths)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
		if _, err := os.Stat(to); !os.IsNotExist(err) {
			t.Errorf("%s: something is left: %v", name, err)
		}
	}
	full := kept(t)
	if err := backup.Write(t.Context(), &backup.Manifest{}, from, full, []string{"genesis.json"}); err == nil ||
		!strings.Contains(err.Error(), "is not empty") {
		t.Errorf("over another backup, the error is %v", err)
	}
	if err := verify(t, full); err != nil {
		t.Errorf("the other backup is %v", err)
	}
}
