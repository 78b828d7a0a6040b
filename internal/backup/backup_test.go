// SPDX-License-Identifier: Apache-2.0

package backup_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/test/buckets"
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

// shelf is somewhere that backups are kept, and what tests do to them there.
type shelf struct {
	// at is the name of a place there.
	at          func(name string) string
	put, remove func(t *testing.T, name, path string, content ...byte)
	// files are all that there are.
	files func(t *testing.T) []string
}

// folders are kept on this machine.
func folders(t *testing.T) shelf {
	t.Helper()
	root := t.TempDir()
	return shelf{
		at: func(name string) string { return filepath.Join(root, name) },
		put: func(t *testing.T, name, path string, content ...byte) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(root, name, path), content, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		remove: func(t *testing.T, name, path string, _ ...byte) {
			t.Helper()
			if err := os.Remove(filepath.Join(root, name, path)); err != nil {
				t.Fatal(err)
			}
		},
		files: func(t *testing.T) []string {
			t.Helper()
			var found []string
			for name := range files(t, root) {
				found = append(found, name)
			}
			slices.Sort(found)
			return found
		},
	}
}

// inBucket are kept in a bucket.
func inBucket(t *testing.T) (shelf, *buckets.Server) {
	t.Helper()
	server := buckets.Serve(t)
	return shelf{
		at: server.URL,
		put: func(t *testing.T, name, path string, content ...byte) {
			t.Helper()
			server.Put(t, name+"/"+path, content)
		},
		remove: func(t *testing.T, name, path string, _ ...byte) {
			t.Helper()
			server.Remove(t, name+"/"+path)
		},
		files: server.Keys,
	}, server
}

// onBoth tests what holds wherever backups are kept.
func onBoth(t *testing.T, test func(t *testing.T, on shelf)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) { test(t, folders(t)) })
	t.Run("bucket", func(t *testing.T) {
		on, _ := inBucket(t)
		test(t, on)
	})
}

// files are those of a folder, by their paths.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		found[filepath.ToSlash(name)] = string(content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func open(t *testing.T, name string) backup.Place {
	t.Helper()
	place, err := backup.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = place.Close() })
	return place
}

// keep makes a backup of a network with one node.
func keep(t *testing.T, on shelf, name string) backup.Place {
	t.Helper()
	from := place(t, map[string]string{
		"genesis.json": "{}", "nodes/a/data/blobs/0": "zero", "nodes/a/data/blobs/1": "", "nodes/b/data/blobs/0": "not wanted",
	})
	to := open(t, on.at(name))
	manifest := &backup.Manifest{Network: "small", GenesisHash: "6f1c", Nodes: []backup.Node{{Name: "a", Formats: "3"}}}
	if err := backup.Write(t.Context(), manifest, from, to, []string{"genesis.json", "nodes/a/data"}); err != nil {
		t.Fatal(err)
	}
	return open(t, on.at(name))
}

// verify reads a backup and checks its files.
func verify(t *testing.T, from backup.Place) error {
	t.Helper()
	manifest, err := backup.Read(t.Context(), from)
	if err != nil {
		return err
	}
	return manifest.Verify(t.Context(), from)
}

func TestWhatIsKeptComesBack(t *testing.T) {
	onBoth(t, func(t *testing.T, on shelf) {
		t.Helper()
		from := keep(t, on, "kept")
		manifest, err := backup.Read(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if manifest.Node("a") == nil || manifest.Node("a").Formats != "3" || manifest.Node("b") != nil || len(manifest.Files) != 3 {
			t.Errorf("the manifest is %+v", manifest)
		}
		if err := manifest.Verify(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "data")
		if err := manifest.Put(t.Context(), from, to, func(path string) (string, bool) {
			return strings.CutPrefix(path, "nodes/a/data/")
		}); err != nil {
			t.Fatal(err)
		}
		if got := files(t, to); !maps.Equal(got, map[string]string{"blobs/0": "zero", "blobs/1": ""}) {
			t.Errorf("the folder has %v", got)
		}
	})
}

func TestDamageIsFound(t *testing.T) {
	write := func(path, content string) func(*testing.T, shelf) {
		return func(t *testing.T, on shelf) {
			t.Helper()
			on.put(t, "kept", path, []byte(content)...)
		}
	}
	remove := func(path string) func(*testing.T, shelf) {
		return func(t *testing.T, on shelf) {
			t.Helper()
			on.remove(t, "kept", path)
		}
	}
	cases := map[string]struct {
		change func(*testing.T, shelf)
		want   string
	}{
		"nothing":            {func(*testing.T, shelf) {}, ""},
		"another byte":       {write("nodes/a/data/blobs/0", "zerO"), "nodes/a/data/blobs/0 has the checksum"},
		"a file cut short":   {write("nodes/a/data/blobs/0", "zer"), "nodes/a/data/blobs/0 has 3 bytes, and had 4"},
		"a file that grew":   {write("nodes/a/data/blobs/0", "zeroes"), "nodes/a/data/blobs/0 has more than the 4 bytes that it had"},
		"a missing file":     {remove("nodes/a/data/blobs/1"), "lacks nodes/a/data/blobs/1"},
		"no manifest":        {remove(backup.ManifestFile), "is no complete backup"},
		"no manifest's form": {write(backup.ManifestFile, "{"), "read backup.json of the backup "},
		"another version":    {write(backup.ManifestFile, `{"version": 2}`), "has version 2, and this program reads 1"},
		"a path that leads out": {
			write(backup.ManifestFile, `{"version": 1, "files": [{"path": "../genesis.json"}]}`), "leads out of it",
		},
		"a path that leads out of a node's data": {
			write(backup.ManifestFile, `{"version": 1, "files": [{"path": "nodes/a/data/../key"}]}`), "leads out of it",
		},
	}
	onBoth(t, func(t *testing.T, on shelf) {
		t.Helper()
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				keep(t, on, name+"/kept")
				from := open(t, on.at(name+"/kept"))
				test.change(t, below(on, name))
				err := verify(t, from)
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("the error is %v, want %q", err, test.want)
				}
				if err != nil && !strings.Contains(err.Error(), from.String()) {
					t.Errorf("the error does not name the backup %s: %v", from, err)
				}
			})
		}
	})
}

// below is a part of a shelf.
func below(on shelf, part string) shelf {
	return shelf{
		put: func(t *testing.T, name, path string, content ...byte) {
			t.Helper()
			on.put(t, part+"/"+name, path, content...)
		},
		remove: func(t *testing.T, name, path string, _ ...byte) {
			t.Helper()
			on.remove(t, part+"/"+name, path)
		},
	}
}

// A backup that fails leaves nothing, and takes no place that is not its own.
func TestBackupsAreWholeOrNotThere(t *testing.T) {
	from := place(t, map[string]string{"genesis.json": "{}"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	link := place(t, nil)
	if err := os.Symlink("elsewhere", filepath.Join(link, "data")); err != nil {
		t.Fatal(err)
	}
	onBoth(t, func(t *testing.T, on shelf) {
		t.Helper()
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
			err := backup.Write(test.ctx, &backup.Manifest{}, test.from, open(t, on.at("kept")), test.paths)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: the error is %v, want %q", name, err, test.want)
			}
			if left := on.files(t); len(left) > 0 {
				t.Errorf("%s: something is left: %v", name, left)
			}
		}
		full := keep(t, on, "kept")
		if err := backup.Write(t.Context(), &backup.Manifest{}, from, open(t, on.at("kept")), []string{"genesis.json"}); err == nil ||
			!strings.Contains(err.Error(), "is not empty") {
			t.Errorf("over another backup, the error is %v", err)
		}
		if err := verify(t, full); err != nil {
			t.Errorf("the other backup is %v", err)
		}
	})
}
