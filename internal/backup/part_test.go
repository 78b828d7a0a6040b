// SPDX-License-Identifier: Apache-2.0

package backup_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/backup"
)

// ofParts keeps a network in two parts, and makes a backup of them.
func ofParts(t *testing.T, on shelf, names ...string) error {
	t.Helper()
	from := place(t, map[string]string{"nodes/a/data/.formats": "7", "nodes/a/data/blobs/0": "zero"})
	// The files of Secrets are links.
	linked := place(t, map[string]string{"..data/manifest.yaml": "kind: ShardNetwork", "..data/a.key": "secret"})
	for link, to := range map[string]string{"manifest.yaml": "..data/manifest.yaml", "nodes/a/validator.key": "../../..data/a.key"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(linked, link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(linked, link)); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{backup.NetworkFile, backup.KeyFile("a")}
	if err := backup.WriteFirst(t.Context(), "network", linked, open(t, on.at("kept")), paths); err != nil {
		t.Fatal(err)
	}
	part := &backup.Part{Nodes: []backup.Node{{Name: "a", Formats: "7"}}}
	if err := backup.WritePart(t.Context(), "a", part, from, open(t, on.at("kept")), []string{backup.DataFolder("a")}); err != nil {
		t.Fatal(err)
	}
	return backup.Seal(t.Context(), &backup.Manifest{Network: "small", GenesisHash: "6f1c"}, open(t, on.at("kept")), names)
}

// A backup of parts is as one that was made at once.
func TestBackupsOfParts(t *testing.T) {
	onBoth(t, func(t *testing.T, on shelf) {
		t.Helper()
		if err := ofParts(t, on, "network", "a"); err != nil {
			t.Fatal(err)
		}
		from := open(t, on.at("kept"))
		manifest, err := backup.Read(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if manifest.Version != backup.Version || len(manifest.Files) != 4 || manifest.Node("a") == nil || manifest.Node("a").Formats != "7" {
			t.Errorf("the manifest is %+v", manifest)
		}
		if err := manifest.Verify(t.Context(), from); err != nil {
			t.Error(err)
		}
		contents, err := manifest.Contents(t.Context(), from, 1000, func(path string) bool { return manifest.DataOf(path) == "" })
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for path, content := range contents {
			got[path] = string(content)
		}
		if want := map[string]string{"manifest.yaml": "kind: ShardNetwork", "nodes/a/validator.key": "secret"}; !maps.Equal(got, want) {
			t.Errorf("the files of the network are %v, want %v", got, want)
		}
	})
}

// The network's own files are read only as they were kept, and what is complete is never
// cleared.
func TestBackupsOfPartsAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, on shelf) {
		t.Helper()
		if err := ofParts(t, on, "network", "a"); err != nil {
			t.Fatal(err)
		}
		from := open(t, on.at("kept"))
		manifest, err := backup.Read(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		on.put(t, "kept", backup.NetworkFile, []byte("kind: ShardNotwork")...)
		if _, err := manifest.Contents(t.Context(), from, 1000, func(string) bool { return true }); err == nil ||
			!strings.Contains(err.Error(), "manifest.yaml has the checksum") {
			t.Errorf("the error is %v", err)
		}
		manifest.Files[0].Bytes = 1 << 40
		if _, err := manifest.Contents(t.Context(), from, 1000, func(string) bool { return true }); err == nil ||
			!strings.Contains(err.Error(), "has more than 1000 bytes besides the data of nodes, with manifest.yaml") {
			t.Errorf("the error of a large file is %v", err)
		}
		before := on.files(t)
		if err := backup.Clear(t.Context(), from); err == nil || !strings.Contains(err.Error(), "is a backup, and stays") {
			t.Errorf("the error is %v", err)
		}
		if after := on.files(t); !slices.Equal(before, after) {
			t.Errorf("%v are left of %v", after, before)
		}
	})
}

// Without all of its parts, there is no backup, and the place can be cleared.
func TestBackupsThatLackAPart(t *testing.T) {
	onBoth(t, func(t *testing.T, on shelf) {
		t.Helper()
		if err := ofParts(t, on, "network", "a", "b"); err == nil || !strings.Contains(err.Error(), "lacks its part b") {
			t.Errorf("the error is %v", err)
		}
		from := open(t, on.at("kept"))
		if err := verify(t, from); err == nil || !strings.Contains(err.Error(), "is no complete backup") {
			t.Errorf("what is there is %v", err)
		}
		second := backup.WriteFirst(t.Context(), "network", t.TempDir(), open(t, on.at("kept")), nil)
		if second == nil || !strings.Contains(second.Error(), "is not empty") {
			t.Errorf("another backup ends with %v", second)
		}
		// Somebody put something of theirs there meanwhile.
		on.put(t, "kept", "later.json", []byte("{}")...)
		if err := backup.Clear(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		if left := on.files(t); len(left) != 1 || !strings.HasSuffix(left[0], "kept/later.json") {
			t.Errorf("%v are left", left)
		}
	})
}
