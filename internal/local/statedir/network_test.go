// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/test/smallnetwork"
)

// open opens a network and closes it when the test ends, unless it was closed
// before.
func open(t *testing.T, manifestPath, stateDir string, fresh bool) *Network {
	t.Helper()
	network, err := Open(manifestPath, stateDir, fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	return network
}

func closeNetwork(t *testing.T, network *Network) {
	t.Helper()
	if err := network.Close(); err != nil {
		t.Fatal(err)
	}
}

// A new network is its genesis document, its manifest with the defaults, and
// secrets that only the user can read.
func TestNewNetwork(t *testing.T) {
	t.Parallel()
	stateDir := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	network := open(t, smallnetwork.Manifest(t), stateDir, false)
	if network.Resumed {
		t.Error("a new network is resumed")
	}
	want := map[string]os.FileMode{"genesis.json": FileMode, "manifest.yaml": FileMode, "lock": SecretMode}
	for _, name := range []string{"net-s0-p0", "net-s0-p1", "net-s1-p0", "net-s1-p1"} {
		want[filepath.Join("nodes", name, "validator.key")] = SecretMode
		want[filepath.Join("nodes", name, "admin.token")] = SecretMode
	}
	if got := smallnetwork.Files(t, filepath.Join(stateDir, "net")); !maps.Equal(got, want) {
		t.Errorf("the files are %v, want %v", got, want)
	}
	if stored := smallnetwork.Read(t, network.Dir.Manifest()); !strings.Contains(stored, "initialBalance: 1000000000") {
		t.Errorf("the manifest has no defaults:\n%s", stored)
	}
}

// The same manifest resumes the same chain, as does one that changes what
// genesis does not fix. That is then the manifest that the next is compared to.
func TestResumedNetwork(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, smallnetwork.Manifest(t), stateDir, false)
	genesis := smallnetwork.Read(t, network.Dir.Genesis())
	key := smallnetwork.Read(t, network.Dir.Node("net-s0-p0").Key())
	closeNetwork(t, network)

	for _, path := range []string{smallnetwork.Manifest(t), smallnetwork.Manifest(t, "transfersPerSecond: 42", "transfersPerSecond: 43")} {
		network = open(t, path, stateDir, false)
		if !network.Resumed {
			t.Error("the network is not resumed")
		}
		if smallnetwork.Read(t, network.Dir.Genesis()) != genesis || smallnetwork.Read(t, network.Dir.Node("net-s0-p0").Key()) != key {
			t.Error("the genesis document or a key has changed")
		}
		closeNetwork(t, network)
	}
	if stored := smallnetwork.Read(t, network.Dir.Manifest()); !strings.Contains(stored, "transfersPerSecond: 43") {
		t.Errorf("the manifest is not the one that was applied last:\n%s", stored)
	}
}

// What genesis fixes cannot change, in the words of the API server, and the
// attempt changes nothing.
func TestImmutableFields(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, smallnetwork.Manifest(t), stateDir, false)
	closeNetwork(t, network)
	before := smallnetwork.Read(t, network.Dir.Manifest())

	_, err := Open(smallnetwork.Manifest(t, "accountsPerShard: 100", "accountsPerShard: 101"), stateDir, false)
	invalid, ok := errors.AsType[*manifest.InvalidError](err)
	want := []string{"spec.genesis.accountsPerShard: Forbidden: is fixed by genesis and cannot change"}
	if !ok || !slices.Equal(invalid.Lines(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
	if resume, ok := errors.AsType[*ResumeError](err); !ok || resume.Dir != string(network.Dir) {
		t.Errorf("the error is %v, want it to name %s", err, network.Dir)
	}
	if after := smallnetwork.Read(t, network.Dir.Manifest()); after != before {
		t.Errorf("the manifest has become\n%s", after)
	}
}

// A fresh network has nothing of the one before, and may be any other.
func TestFreshNetwork(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, smallnetwork.Manifest(t), stateDir, false)
	key := smallnetwork.Read(t, network.Dir.Node("net-s0-p0").Key())
	chain := filepath.Join(string(network.Dir.Node("net-s0-p0")), "data")
	if err := os.Mkdir(chain, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(string(network.Dir), "notes.txt")
	if err := os.WriteFile(foreign, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	closeNetwork(t, network)

	network = open(t, smallnetwork.Manifest(t, "accountsPerShard: 100", "accountsPerShard: 101"), stateDir, true)
	if network.Resumed {
		t.Error("a fresh network is resumed")
	}
	if smallnetwork.Read(t, network.Dir.Node("net-s0-p0").Key()) == key {
		t.Error("a key was kept")
	}
	if _, err := os.Stat(chain); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the chain was kept (%v)", err)
	}
	if smallnetwork.Read(t, foreign) != "mine" {
		t.Error("a file that is not of the network was not kept")
	}
}

// A network without a genesis document is one that was not made to the end.
func TestInterruptedCreation(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := open(t, smallnetwork.Manifest(t), stateDir, false)
	key := smallnetwork.Read(t, network.Dir.Node("net-s0-p0").Key())
	closeNetwork(t, network)
	if err := os.Remove(network.Dir.Genesis()); err != nil {
		t.Fatal(err)
	}

	network = open(t, smallnetwork.Manifest(t), stateDir, false)
	if network.Resumed || smallnetwork.Read(t, network.Dir.Node("net-s0-p0").Key()) == key {
		t.Error("the network is resumed without its genesis document")
	}
}

func TestDamagedNetworks(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		damage func(NetworkDir) error
		want   string
	}{
		"another genesis": {
			func(dir NetworkDir) error {
				content, err := os.ReadFile(dir.Genesis())
				if err != nil {
					return err
				}
				changed := strings.Replace(string(content), `"perShard": 100`, `"perShard": 200`, 1)
				return os.WriteFile(dir.Genesis(), []byte(changed), 0o600)
			},
			"genesis.json is not the one of the manifest and the keys beside it",
		},
		"another key": {
			func(dir NetworkDir) error {
				return os.WriteFile(dir.Node("net-s0-p0").Key(), []byte(strings.Repeat("ab", 32)), 0o600)
			},
			"genesis.json is not the one of the manifest and the keys beside it",
		},
		"no key":      {func(dir NetworkDir) error { return os.Remove(dir.Node("net-s1-p0").Key()) }, "validator.key: no such file"},
		"half a key":  {func(dir NetworkDir) error { return os.Truncate(dir.Node("net-s1-p0").Key(), 32) }, "a key is 64 hex digits"},
		"no token":    {func(dir NetworkDir) error { return os.Remove(dir.Node("net-s1-p0").AdminToken()) }, "admin.token: no such file"},
		"no manifest": {func(dir NetworkDir) error { return os.Remove(dir.Manifest()) }, "read the manifest it runs with: "},
		"no JSON":     {func(dir NetworkDir) error { return os.Truncate(dir.Genesis(), 10) }, "genesis.json: unexpected end of JSON"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stateDir := t.TempDir()
			network := open(t, smallnetwork.Manifest(t), stateDir, false)
			closeNetwork(t, network)
			if err := test.damage(network.Dir); err != nil {
				t.Fatal(err)
			}
			_, err := Open(smallnetwork.Manifest(t), stateDir, false)
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
	network := open(t, smallnetwork.Manifest(t), stateDir, false)
	for _, fresh := range []bool{false, true} {
		_, err := Open(smallnetwork.Manifest(t), stateDir, fresh)
		if err == nil || !strings.HasPrefix(err.Error(), "network net is running: process ") {
			t.Errorf("fresh %t: the error is %v, want that the network is running", fresh, err)
		}
	}
	if exists, err := network.Dir.Exists(); err != nil || !exists {
		t.Errorf("the network that runs is there: %t (%v)", exists, err)
	}

	// Another network of the same state directory is another thing, and a
	// network that is closed is free.
	open(t, smallnetwork.Manifest(t, "name: net", "name: other"), stateDir, false)
	closeNetwork(t, network)
	open(t, smallnetwork.Manifest(t), stateDir, false)
}

func TestInvalidManifest(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	_, err := Open(smallnetwork.Manifest(t, "nodes: 4", "nodes: 3"), stateDir, false)
	if _, ok := errors.AsType[*manifest.InvalidError](err); !ok {
		t.Errorf("the error is %v, want an invalid manifest", err)
	}
	if found := smallnetwork.Files(t, stateDir); len(found) > 0 {
		t.Errorf("an invalid manifest makes %v", found)
	}
}
