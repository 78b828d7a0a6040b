// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/manifest"
)

// open opens a network and closes it when the test ends, unless it was closed
// before.
func open(t *testing.T, manifestPath, stateDir string, fresh bool) *network {
	t.Helper()
	network, err := openNetwork(manifestPath, stateDir, fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.close() })
	return network
}

func closeNetwork(t *testing.T, network *network) {
	t.Helper()
	if err := network.close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// files maps the paths below a folder to the modes of the files.
func files(t *testing.T, dir string) map[string]os.FileMode {
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

// A new network is its genesis document, its manifest with the defaults, and
// secrets that only the user can read.
func TestNewNetwork(t *testing.T) {
	t.Parallel()
	stateDir := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	network := open(t, testManifest(t), stateDir, false)
	if network.resumed {
		t.Error("a new network is resumed")
	}
	want := map[string]os.FileMode{"genesis.json": fileMode, "manifest.yaml": fileMode, "lock": secretMode}
	for _, name := range []string{"net-s0-p0", "net-s0-p1", "net-s1-p0", "net-s1-p1"} {
		want[filepath.Join("nodes", name, "validator.key")] = secretMode
		want[filepath.Join("nodes", name, "admin.token")] = secretMode
	}
	if got := files(t, filepath.Join(stateDir, "net")); !maps.Equal(got, want) {
		t.Errorf("the files are %v, want %v", got, want)
	}
	if stored := read(t, network.dir.manifest()); !strings.Contains(stored, "initialBalance: 1000000000") {
		t.Errorf("the manifest has no defaults:\n%s", stored)
	}
}

// The same manifest resumes the same chain, as does one that changes what
// genesis does not fix. That is then the manifest that the next is compared to.
func TestResumedNetwork(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, testManifest(t), stateDir, false)
	genesis := read(t, network.dir.genesis())
	key := read(t, network.dir.node("net-s0-p0").key())
	closeNetwork(t, network)

	for _, path := range []string{testManifest(t), testManifest(t, "transfersPerSecond: 42", "transfersPerSecond: 43")} {
		network = open(t, path, stateDir, false)
		if !network.resumed {
			t.Error("the network is not resumed")
		}
		if read(t, network.dir.genesis()) != genesis || read(t, network.dir.node("net-s0-p0").key()) != key {
			t.Error("the genesis document or a key has changed")
		}
		closeNetwork(t, network)
	}
	if stored := read(t, network.dir.manifest()); !strings.Contains(stored, "transfersPerSecond: 43") {
		t.Errorf("the manifest is not the one that was applied last:\n%s", stored)
	}
}

// What genesis fixes cannot change, in the words of the API server, and the
// attempt changes nothing.
func TestImmutableFields(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, testManifest(t), stateDir, false)
	closeNetwork(t, network)
	before := read(t, network.dir.manifest())

	_, err := openNetwork(testManifest(t, "accountsPerShard: 100", "accountsPerShard: 101"), stateDir, false)
	invalid, ok := errors.AsType[*manifest.InvalidError](err)
	want := []string{"spec.genesis.accountsPerShard: Forbidden: is fixed by genesis and cannot change"}
	if !ok || !slices.Equal(invalid.Lines(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
	if resume, ok := errors.AsType[*ResumeError](err); !ok || resume.Dir != string(network.dir) {
		t.Errorf("the error is %v, want it to name %s", err, network.dir)
	}
	if after := read(t, network.dir.manifest()); after != before {
		t.Errorf("the manifest has become\n%s", after)
	}
}

// A fresh network has nothing of the one before, and may be any other.
func TestFreshNetwork(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, testManifest(t), stateDir, false)
	key := read(t, network.dir.node("net-s0-p0").key())
	chain := filepath.Join(string(network.dir.node("net-s0-p0")), "data")
	if err := os.Mkdir(chain, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(string(network.dir), "notes.txt")
	if err := os.WriteFile(foreign, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	closeNetwork(t, network)

	network = open(t, testManifest(t, "accountsPerShard: 100", "accountsPerShard: 101"), stateDir, true)
	if network.resumed {
		t.Error("a fresh network is resumed")
	}
	if read(t, network.dir.node("net-s0-p0").key()) == key {
		t.Error("a key was kept")
	}
	if _, err := os.Stat(chain); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the chain was kept (%v)", err)
	}
	if read(t, foreign) != "mine" {
		t.Error("a file that is not of the network was not kept")
	}
}

// A network without a genesis document is one that was not made to the end.
func TestInterruptedCreation(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, testManifest(t), stateDir, false)
	key := read(t, network.dir.node("net-s0-p0").key())
	closeNetwork(t, network)
	if err := os.Remove(network.dir.genesis()); err != nil {
		t.Fatal(err)
	}

	network = open(t, testManifest(t), stateDir, false)
	if network.resumed || read(t, network.dir.node("net-s0-p0").key()) == key {
		t.Error("the network is resumed without its genesis document")
	}
}

func TestDamagedNetworks(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		damage func(networkDir) error
		want   string
	}{
		"another genesis": {
			func(dir networkDir) error {
				content, err := os.ReadFile(dir.genesis())
				if err != nil {
					return err
				}
				changed := strings.Replace(string(content), `"perShard": 100`, `"perShard": 200`, 1)
				return os.WriteFile(dir.genesis(), []byte(changed), 0o600)
			},
			"genesis.json is not the one of the manifest and the keys beside it",
		},
		"another key": {
			func(dir networkDir) error {
				return os.WriteFile(dir.node("net-s0-p0").key(), []byte(strings.Repeat("ab", 32)), 0o600)
			},
			"genesis.json is not the one of the manifest and the keys beside it",
		},
		"no key":      {func(dir networkDir) error { return os.Remove(dir.node("net-s1-p0").key()) }, "validator.key: no such file"},
		"half a key":  {func(dir networkDir) error { return os.Truncate(dir.node("net-s1-p0").key(), 32) }, "a key is 64 hex digits"},
		"no token":    {func(dir networkDir) error { return os.Remove(dir.node("net-s1-p0").adminToken()) }, "admin.token: no such file"},
		"no manifest": {func(dir networkDir) error { return os.Remove(dir.manifest()) }, "read the manifest it runs with: "},
		"no JSON":     {func(dir networkDir) error { return os.Truncate(dir.genesis(), 10) }, "genesis.json: unexpected end of JSON"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stateDir := t.TempDir()
			network := open(t, testManifest(t), stateDir, false)
			closeNetwork(t, network)
			if err := test.damage(network.dir); err != nil {
				t.Fatal(err)
			}
			_, err := openNetwork(testManifest(t), stateDir, false)
			if _, ok := errors.AsType[*ResumeError](err); !ok || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want it to say %q", err, test.want)
			}
		})
	}
}

// Two processes never run the same network, fresh or not.
func TestLockedNetwork(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, testManifest(t), stateDir, false)
	for _, fresh := range []bool{false, true} {
		_, err := openNetwork(testManifest(t), stateDir, fresh)
		if err == nil || !strings.HasPrefix(err.Error(), "network net is running: process ") {
			t.Errorf("fresh %t: the error is %v, want that the network is running", fresh, err)
		}
	}
	if exists, err := network.dir.exists(); err != nil || !exists {
		t.Errorf("the network that runs is there: %t (%v)", exists, err)
	}

	// Another network of the same state directory is another thing, and a
	// network that is closed is free.
	open(t, testManifest(t, "name: net", "name: other"), stateDir, false)
	closeNetwork(t, network)
	open(t, testManifest(t), stateDir, false)
}

func TestInvalidManifest(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	_, err := openNetwork(testManifest(t, "nodes: 4", "nodes: 3"), stateDir, false)
	if _, ok := errors.AsType[*manifest.InvalidError](err); !ok {
		t.Errorf("the error is %v, want an invalid manifest", err)
	}
	if found := files(t, stateDir); len(found) > 0 {
		t.Errorf("an invalid manifest makes %v", found)
	}
}
