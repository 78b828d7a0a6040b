// SPDX-License-Identifier: Apache-2.0

// Package smallnetwork is a network of four producers for tests of what runs on one
// machine: its manifest, and what is in the folder that it is kept in.
package smallnetwork

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Manifest writes the manifest of a small network, with some text replaced.
func Manifest(t *testing.T, replacements ...string) string {
	t.Helper()
	content := strings.NewReplacer(replacements...).Replace(`
apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata:
  name: net
spec:
  shards: 2
  producersPerShard: 2
  regions:
    - name: local
      nodes: 4
  genesis:
    accountsPerShard: 100
  protocol:
    minBlockTimeMilliseconds: 50
  placement:
    exclusivity: Shared
  load:
    profile: Ramp
    ramp:
      steps:
        - transfersPerSecond: 10
          durationSeconds: 1
        - transfersPerSecond: 42
          durationSeconds: 60
`)
	path := filepath.Join(t.TempDir(), "network.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Read is the content of a file.
func Read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Files maps the paths below a folder to the modes of the files.
func Files(t *testing.T, dir string) map[string]os.FileMode {
	t.Helper()
	found := map[string]os.FileMode{}
	if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		found[name] = info.Mode().Perm()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}
