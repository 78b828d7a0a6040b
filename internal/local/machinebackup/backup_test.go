// SPDX-License-Identifier: Apache-2.0

package machinebackup

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/test/scripts"
	"github.com/shardyard/shardyard/test/smallnetwork"
)

// used is a network that has run, of four producers with data of formats 7.
func used(t *testing.T, stateDir string) statedir.NetworkDir {
	t.Helper()
	network := reopen(t, smallnetwork.Manifest(t), stateDir, false)
	for _, validator := range network.Plan.Nodes {
		fill(t, network.Dir.Node(validator.Name), "old")
	}
	last := bench.Sample{Nodes: []bench.NodeSample{{Status: &chain.Status{FinalizedHeight: 1200, BlockHash: "b10c"}}}}
	if err := network.Dir.KeepChain(last); err != nil {
		t.Fatal(err)
	}
	shut(t, network)
	return network.Dir
}

// fill gives a node data.
func fill(t *testing.T, node statedir.NodeDir, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(node.Data(), "state"), statedir.DirMode); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{".formats": "7", "state/0": content} {
		if err := os.WriteFile(filepath.Join(node.Data(), name), []byte(content), statedir.SecretMode); err != nil {
			t.Fatal(err)
		}
	}
}

// reading is a node program of some formats.
func reading(t *testing.T, formats string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "shardnode")
	scripts.Write(t, program, "#!/bin/sh\n[ \"$1\" = formats ] && echo "+formats+"\n")
	return program
}

// backUp keeps a network in a folder of its own.
func backUp(t *testing.T, stateDir string, nodes ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "kept")
	manifest, err := Backup(t.Context(), Options{StateDir: stateDir, Network: "net", Nodes: nodes, To: folder})
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Chain == nil || manifest.Chain.FinalizedHeight != 1200 || manifest.Chain.BlockHash != "b10c" {
		t.Errorf("the chain is %+v", manifest.Chain)
	}
	return folder
}

// A network of which nothing is left is restored as it was, and can go on.
func TestRestoredNetworks(t *testing.T) {
	t.Parallel()
	stateDir, elsewhere := t.TempDir(), t.TempDir()
	dir := used(t, stateDir)
	folder := backUp(t, stateDir)
	if _, err := Restore(t.Context(), RestoreOptions{From: folder, StateDir: elsewhere, Shardnode: reading(t, "7")}); err != nil {
		t.Fatal(err)
	}
	want := smallnetwork.Files(t, string(dir))
	delete(want, "chain.json")
	if got := smallnetwork.Files(t, filepath.Join(elsewhere, "net")); !maps.Equal(got, want) {
		t.Errorf("the files are %v\nwant %v", got, want)
	}
	if !reopen(t, smallnetwork.Manifest(t), elsewhere, false).Resumed {
		t.Error("the network is made anew")
	}
}

// A node gets back what it had, in the place of what it has, and others keep theirs.
func TestRestoredNodes(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	dir := used(t, stateDir)
	folder := backUp(t, stateDir, "net-s0-p1", "net-s1-p0")
	for _, name := range []string{"net-s0-p0", "net-s0-p1", "net-s1-p0"} {
		fill(t, dir.Node(name), "new")
	}
	options := RestoreOptions{
		From: folder, StateDir: stateDir, Nodes: []string{"net-s0-p1", "net-s0-p1"}, Replace: true, Shardnode: reading(t, "7"),
	}
	if _, err := Restore(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"net-s0-p0": "new", "net-s0-p1": "old", "net-s1-p0": "new", "net-s1-p1": "old"} {
		if got := smallnetwork.Read(t, filepath.Join(dir.Node(name).Data(), "state", "0")); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// nodes are those of the network of these tests.
var nodes = []string{"net-s0-p0", "net-s0-p1", "net-s1-p0", "net-s1-p1"}

// checkAllHave checks that each node has the same on its disk.
func checkAllHave(t *testing.T, dir statedir.NetworkDir, want string) {
	t.Helper()
	for _, name := range nodes {
		if got := smallnetwork.Read(t, filepath.Join(dir.Node(name).Data(), "state", "0")); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// ranOn is a network that ran on after its backup.
func ranOn(t *testing.T, stateDir string) (dir statedir.NetworkDir, folder string) {
	t.Helper()
	dir = used(t, stateDir)
	folder = backUp(t, stateDir)
	for _, name := range nodes {
		fill(t, dir.Node(name), "new")
	}
	return dir, folder
}

// What cannot be put back for all nodes is put back for none: producers that forgot their
// votes together would be beside one that did not.
func TestARestoreThatFailsHalfway(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	dir, folder := ranOn(t, stateDir)
	before := smallnetwork.Files(t, string(dir))
	// The program is asked after all was checked, and before anything is copied.
	program := filepath.Join(t.TempDir(), "shardnode")
	last := filepath.Join(statedir.NetworkDir(folder).Node(nodes[3]).Data(), "state", "0")
	scripts.Write(t, program, "#!/bin/sh\nprintf odd >'"+last+"'\necho 7\n")
	_, err := Restore(t.Context(), RestoreOptions{From: folder, StateDir: stateDir, Replace: true, Shardnode: program})
	if err == nil || !strings.Contains(err.Error(), "has the checksum") {
		t.Errorf("the error is %v", err)
	}
	checkAllHave(t, dir, "new")
	if got := smallnetwork.Files(t, string(dir)); !maps.Equal(got, before) {
		t.Errorf("the files are %v\nwant %v", got, before)
	}
}

// A restore that was killed between two nodes is made again before anybody runs the network
// or keeps it.
func TestARestoreThatWasKilled(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	dir, folder := ranOn(t, stateDir)
	fill(t, dir.Node(nodes[0]), "old")
	if err := dir.BeginRestore(nodes); err != nil {
		t.Fatal(err)
	}
	const again = "shardyard restore did not come to its end: run it again, with --replace, for at least the nodes net-s0-p0, net-s0-p1"
	if _, err := statedir.Open(smallnetwork.Manifest(t), stateDir, false); err == nil || !strings.Contains(err.Error(), again) {
		t.Errorf("it runs: %v", err)
	}
	if _, err := Backup(t.Context(), Options{StateDir: stateDir, Network: "net", To: filepath.Join(t.TempDir(), "kept")}); err == nil ||
		!strings.Contains(err.Error(), again) {
		t.Errorf("it is kept: %v", err)
	}
	options := RestoreOptions{From: folder, StateDir: stateDir, Replace: true, Shardnode: reading(t, "7"), Nodes: nodes[1:]}
	if _, err := Restore(t.Context(), options); err == nil || !strings.Contains(err.Error(), "net-s0-p0 is one of them") {
		t.Errorf("some of its nodes are put back: %v", err)
	}
	options.Nodes = nil
	if _, err := Restore(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	checkAllHave(t, dir, "old")
	if !reopen(t, smallnetwork.Manifest(t), stateDir, false).Resumed {
		t.Error("the network is made anew")
	}
}

// The end of the last run is not where the chain is any more once older data is put back.
func TestTheChainOfARestoredNetwork(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	_, folder := ranOn(t, stateDir)
	options := RestoreOptions{From: folder, StateDir: stateDir, Replace: true, Shardnode: reading(t, "7")}
	if _, err := Restore(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	manifest, err := Backup(t.Context(), Options{StateDir: stateDir, Network: "net", To: filepath.Join(t.TempDir(), "again")})
	if err != nil || manifest.Chain != nil {
		t.Errorf("the chain is %+v (%v)", manifest.Chain, err)
	}
}

// Producers that forget their votes together are not beside one that goes on with its own.
func TestARestoreOfMostProducers(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	dir, folder := ranOn(t, stateDir)
	options := RestoreOptions{From: folder, StateDir: stateDir, Replace: true, Shardnode: reading(t, "7"), Nodes: nodes[1:]}
	const want = "3 of 4 producers would forget votes"
	if _, err := Restore(t.Context(), options); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %s", err, want)
	}
	checkAllHave(t, dir, "new")
}

func TestRefusedRestores(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		// nodes are kept, and change makes of the backup and the network what is refused.
		nodes   []string
		change  func(t *testing.T, folder, stateDir string)
		options RestoreOptions
		formats string
		want    string
	}{
		"data that is there": {
			change: func(*testing.T, string, string) {}, formats: "7", want: "net-s0-p0 has data on its disk",
		},
		"other formats": {
			change: func(*testing.T, string, string) {}, formats: "8", want: "has formats 7, and",
		},
		"a node without data": {
			nodes: []string{"net-s0-p0"}, change: func(*testing.T, string, string) {},
			options: RestoreOptions{Nodes: []string{"net-s0-p1"}}, formats: "7", want: "has no data of a node net-s0-p1",
		},
		"another chain": {
			change: func(t *testing.T, _, stateDir string) {
				t.Helper()
				shut(t, reopen(t, smallnetwork.Manifest(t), stateDir, true))
			},
			formats: "7", want: "is a network with genesis hash",
		},
		"damage": {
			change: func(t *testing.T, folder, _ string) {
				t.Helper()
				fill(t, statedir.NetworkDir(folder).Node("net-s1-p1"), "odd")
			},
			options: RestoreOptions{Replace: true}, formats: "7", want: "net-s1-p1/data/state/0 has the checksum",
		},
		"a manifest of another chain": {
			change: func(t *testing.T, folder, _ string) {
				t.Helper()
				path := filepath.Join(folder, backup.ManifestFile)
				content := strings.Replace(smallnetwork.Read(t, path), `"genesisHash": "`, `"genesisHash": "00`, 1)
				if err := os.WriteFile(path, []byte(content), statedir.SecretMode); err != nil {
					t.Fatal(err)
				}
			},
			options: RestoreOptions{Replace: true}, formats: "7", want: "and says that it is of net with 00",
		},
		"too few producers": {
			nodes: []string{"net-s0-p0", "net-s0-p1"}, change: func(t *testing.T, _, stateDir string) {
				t.Helper()
				if err := os.RemoveAll(filepath.Join(stateDir, "net")); err != nil {
					t.Fatal(err)
				}
			},
			formats: "7", want: "only 2 of 4 producers would have data, and the chain goes on with 3",
		},
		"a network that runs": {
			change: func(t *testing.T, _, stateDir string) {
				t.Helper()
				reopen(t, smallnetwork.Manifest(t), stateDir, false)
			},
			options: RestoreOptions{Replace: true}, formats: "7", want: "network net is running",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stateDir := t.TempDir()
			dir := used(t, stateDir)
			folder := backUp(t, stateDir, test.nodes...)
			test.change(t, folder, stateDir)
			var before map[string]os.FileMode
			if there, err := dir.Exists(); err != nil {
				t.Fatal(err)
			} else if there {
				before = smallnetwork.Files(t, string(dir))
			}
			options := test.options
			options.From, options.StateDir, options.Shardnode = folder, stateDir, reading(t, test.formats)
			if _, err := Restore(t.Context(), options); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			if before != nil && !maps.Equal(smallnetwork.Files(t, string(dir)), before) {
				t.Errorf("the files are %v\nwant %v", smallnetwork.Files(t, string(dir)), before)
			}
		})
	}
}

func TestRefusedBackups(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	dir := used(t, stateDir)
	refuse := func(want string, options Options) {
		t.Helper()
		options.StateDir, options.To = stateDir, filepath.Join(t.TempDir(), "kept")
		if _, err := Backup(t.Context(), options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	refuse("there is no network other", Options{Network: "other"})
	refuse("has no node net-a0", Options{Network: "net", Nodes: []string{"net-a0"}})
	if err := os.RemoveAll(dir.Node("net-s0-p0").Data()); err != nil {
		t.Fatal(err)
	}
	refuse("net-s0-p0/data holds nothing of a node", Options{Network: "net"})
	reopen(t, smallnetwork.Manifest(t), stateDir, false)
	refuse("network net is running", Options{Network: "net"})
}

// reopen opens a network and closes it when the test ends, unless it was closed before.
func reopen(t *testing.T, manifestPath, stateDir string, fresh bool) *statedir.Network {
	t.Helper()
	network, err := statedir.Open(manifestPath, stateDir, fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	return network
}

func shut(t *testing.T, network *statedir.Network) {
	t.Helper()
	if err := network.Close(); err != nil {
		t.Fatal(err)
	}
}
