// SPDX-License-Identifier: Apache-2.0

package machinebackup

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/test/buckets"
	"github.com/shardyard/shardyard/test/smallnetwork"
)

// keptInBucket is a network that is kept in a bucket as well, with data of all nodes.
func keptInBucket(t *testing.T) (server *buckets.Server, dir statedir.NetworkDir, stateDir string) {
	t.Helper()
	server, stateDir = buckets.Serve(t), t.TempDir()
	dir = used(t, stateDir)
	options := Options{StateDir: stateDir, Network: "net", To: server.URL("nightly")}
	if _, err := Backup(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	return server, dir, stateDir
}

// entries are what is in the folder of networks.
func entries(t *testing.T, stateDir string) []string {
	t.Helper()
	var names []string
	found, err := os.ReadDir(stateDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	return names
}

// A network comes back from a bucket on another machine as from a folder.
func TestNetworksFromBuckets(t *testing.T) {
	server, dir, stateDir := keptInBucket(t)
	options := Options{StateDir: stateDir, Network: "net", To: server.URL("nightly")}
	if _, err := Backup(t.Context(), options); err == nil || !strings.Contains(err.Error(), "s3://kept/nightly is not empty") {
		t.Errorf("over another backup, the error is %v", err)
	}
	elsewhere := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	restore := RestoreOptions{From: server.URL("nightly"), StateDir: elsewhere, Shardnode: reading(t, "7")}
	if _, err := Restore(t.Context(), restore); err != nil {
		t.Fatal(err)
	}
	want := smallnetwork.Files(t, string(dir))
	delete(want, "chain.json")
	if got := smallnetwork.Files(t, filepath.Join(elsewhere, "net")); !maps.Equal(got, want) {
		t.Errorf("the files are %v\nwant %v", got, want)
	}
	for name := range want {
		got, want := smallnetwork.Read(t, filepath.Join(elsewhere, "net", name)), smallnetwork.Read(t, filepath.Join(string(dir), name))
		if name != "lock" && got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := entries(t, elsewhere); len(got) != 1 {
		t.Errorf("something is left beside the network: %v", got)
	}
	if !reopen(t, smallnetwork.Manifest(t), elsewhere, false).Resumed {
		t.Error("the network is made anew")
	}
}

// Of a node alone, the data of others is not asked for.
func TestNodesFromBuckets(t *testing.T) {
	server, dir, stateDir := keptInBucket(t)
	fill(t, dir.Node("net-s0-p1"), "new")
	fill(t, dir.Node("net-s1-p0"), "new")
	server.Before(func(out http.ResponseWriter, request *http.Request) bool {
		others := strings.Contains(request.URL.Path, "/data/") && !strings.Contains(request.URL.Path, "/net-s0-p1/")
		if others {
			buckets.Refuse(out, request, http.StatusForbidden, "AccessDenied", "nobody wants "+request.URL.Path)
		}
		return others
	})
	options := RestoreOptions{
		From: server.URL("nightly"), StateDir: stateDir, Nodes: []string{"net-s0-p1"}, Replace: true, Shardnode: reading(t, "7"),
	}
	if _, err := Restore(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"net-s0-p0": "old", "net-s0-p1": "old", "net-s1-p0": "new"} {
		if got := smallnetwork.Read(t, filepath.Join(dir.Node(name).Data(), "state", "0")); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// What a bucket does not give back whole leaves the network as it was.
func TestRefusedRestoresFromBuckets(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*testing.T, *buckets.Server)
		want   string
	}{
		"damage": {
			func(t *testing.T, server *buckets.Server) {
				t.Helper()
				server.Put(t, "nightly/nodes/net-s1-p1/data/state/0", []byte("odd"))
			},
			"the backup s3://kept/nightly is damaged: nodes/net-s1-p1/data/state/0 has the checksum",
		},
		"damage of a key": {
			func(t *testing.T, server *buckets.Server) {
				t.Helper()
				server.Put(t, "nightly/nodes/net-s1-p1/"+statedir.NodeFiles.Key, []byte("{}"))
			},
			"the backup s3://kept/nightly is damaged: nodes/net-s1-p1/" + statedir.NodeFiles.Key,
		},
		"a missing object": {
			func(t *testing.T, server *buckets.Server) {
				t.Helper()
				server.Remove(t, "nightly/nodes/net-s0-p0/data/state/0")
			},
			"the backup s3://kept/nightly lacks nodes/net-s0-p0/data/state/0",
		},
		"no manifest": {
			func(t *testing.T, server *buckets.Server) {
				t.Helper()
				server.Remove(t, "nightly/backup.json")
			},
			"s3://kept/nightly is no complete backup: it has no backup.json",
		},
		"refused credentials": {
			func(t *testing.T, _ *buckets.Server) {
				t.Helper()
				buckets.Credentials(t, "somebody-else")
			},
			"read s3://kept/nightly/backup.json: the bucket refuses these credentials",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, dir, stateDir := keptInBucket(t)
			for _, node := range []string{"net-s0-p0", "net-s1-p1"} {
				fill(t, dir.Node(node), "new")
			}
			test.change(t, server)
			options := RestoreOptions{From: server.URL("nightly"), StateDir: stateDir, Replace: true, Shardnode: reading(t, "7")}
			if _, err := Restore(t.Context(), options); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			for _, node := range []string{"net-s0-p0", "net-s1-p1"} {
				if got := smallnetwork.Read(t, filepath.Join(dir.Node(node).Data(), "state", "0")); got != "new" {
					t.Errorf("%s has %q", node, got)
				}
			}
			if got := entries(t, stateDir); len(got) != 1 {
				t.Errorf("something is left beside the network: %v", got)
			}
		})
	}
}
