// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/faulting"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// newOrder is a fault of one of the samples, and its network.
func newOrder(t *testing.T, sample string) *resources.FaultOrder {
	t.Helper()
	wanted, err := manifest.ReadFault("../../config/samples/fault/" + sample + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	network, err := manifest.Read("../../config/samples/quickstart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	network.Namespace = "chains"
	return &resources.FaultOrder{Fault: *wanted, Network: *network}
}

// steeredFault is a fault of the network of a steered run, and the files that its pod has.
func steeredFault(t *testing.T, sample string) (*resources.FaultOrder, *faultOptions, map[string]ed25519.PublicKey) {
	t.Helper()
	benchmark, files, keys := steeredRun(t)
	order := newOrder(t, sample)
	order.Network.Name, order.Network.Spec = benchmark.Name, benchmark.Spec.Network.Template.Spec
	order.Fault.Spec.NetworkName = order.Network.Name
	plan, err := topology.New(&order.Network)
	if err != nil {
		t.Fatal(err)
	}
	addresses := map[string]string{}
	for i := range plan.Nodes {
		addresses[plan.Nodes[i].Name] = "host:1"
	}
	peers, err := nodeconfig.NewPeers(plan, keys, addresses)
	if err != nil {
		t.Fatal(err)
	}
	document, err := nodeconfig.Encode(peers)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "peers-0123456789abcdef.json"), document, 0o600); err != nil {
		t.Fatal(err)
	}
	return order, &faultOptions{
		clusterDomain: "cluster.local", admin: adminFiles{token: files.adminToken, genesis: files.genesis, peers: folder},
	}, keys
}

// What the pod of a fault is told is who the fault is of, and where the nodes are. Of a fault
// of links it tells those at the other ends as well, whether they validate or not.
func TestWhatMeasuresAFault(t *testing.T) {
	t.Parallel()
	order, options, keys := steeredFault(t, "partition-shard")
	made, err := options.faulting(order)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Scope) != 2 || len(made.Orders) != 11 || made.Scope[0].Shard != 1 {
		t.Errorf("it is of %+v, by %+v", made.Scope, made.Orders)
	}
	if _, ok := made.Actor.(*faulting.Nodes); !ok || made.Summon != nil {
		t.Errorf("it is begun by %T", made.Actor)
	}
	name := made.Scope[0].Name
	if got, want := made.Address(name), name+"-0.near-4-shards-local-p2p.chains.svc.cluster.local:"; !strings.HasPrefix(got, want) {
		t.Errorf("%s is at %s, want %s", name, got, want)
	}
	admin, err := readAdmin(options.admin, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range keys {
		if known := admin("host:1", name); !known.PublicKey.Equal(key) || known.Token != "the-token" {
			t.Errorf("the admin API of %s is %+v, want its key", name, known)
		}
	}
}

// What the genesis document names is known by that, and who is told nothing need not be
// known.
func TestByWhichKeysNodesAreKnown(t *testing.T) {
	t.Parallel()
	order, options, keys := steeredFault(t, "partition-shard")
	const producer, rpc = "near-4-shards-local-s1-p0", "near-4-shards-local-r0"
	document := `{"peers":[{"name":"` + producer + `","publicKey":"00"}]}`
	if err := os.WriteFile(filepath.Join(options.admin.peers, "peers-0123456789abcdef.json"), []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	admin, err := readAdmin(options.admin, []string{producer})
	if err != nil {
		t.Fatal(err)
	}
	if known := admin("host:1", producer).PublicKey; !known.Equal(keys[producer]) {
		t.Errorf("%s is known by %x, want the key that genesis names", producer, known)
	}
	want := "no document says by which key " + rpc + " is known, and it is to be told something"
	if _, err := options.faulting(order); err == nil || err.Error() != want {
		t.Errorf("of a fault of which all are told, the error is %v, want %s", err, want)
	}
	order.Fault.Spec.Action, order.Fault.Spec.SlowDisk = v1alpha1.FaultActionSlowDisk, &v1alpha1.SlowDiskFault{Milliseconds: 1}
	if _, err := options.faulting(order); err != nil {
		t.Errorf("of a fault of which producers alone are told, the error is %v", err)
	}
}

// A pod that lacks what it takes ends before it asks anybody.
func TestPodsThatCannotMeasure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sample  string
		options faultOptions
		change  func(*v1alpha1.FaultSpec)
		want    string
	}{
		"no token": {"partition-shard", faultOptions{}, nil, "action Partition needs --admin-token, --genesis and --peers"},
		"no peers": {
			"partition-shard", faultOptions{admin: adminFiles{token: "none", genesis: "none"}}, nil, "action Partition needs",
		},
		"no file": {
			"partition-shard",
			faultOptions{admin: adminFiles{token: "none", genesis: "none", peers: "none"}},
			nil,
			"read the token of the admin API",
		},
		"no listener": {"kill-producer-at-once", faultOptions{}, nil, "action Kill needs --listen"},
		"nobody": {
			"kill-producer-at-once",
			faultOptions{listen: "127.0.0.1:0"},
			func(spec *v1alpha1.FaultSpec) { spec.Validators.Names = []string{"nobody"} }, "has no validator nobody",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			order := newOrder(t, test.sample)
			if test.change != nil {
				test.change(&order.Fault.Spec)
			}
			content, err := json.Marshal(order)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "fault.json")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			arguments := []string{"measure-fault", "--fault=" + path, "--summary=" + path + ".summary"}
			for flag, value := range map[string]string{
				"--admin-token=": test.options.admin.token, "--genesis=": test.options.admin.genesis, "--peers=": test.options.admin.peers,
				"--listen=": test.options.listen,
			} {
				if value != "" {
					arguments = append(arguments, flag+value)
				}
			}
			command := newCommand()
			command.SetArgs(arguments)
			command.SetOut(&bytes.Buffer{})
			command.SetErr(&bytes.Buffer{})
			if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			if _, err := os.Stat(path + ".summary"); err == nil {
				t.Error("it says what came of a fault all the same")
			}
		})
	}
}

// The pod is ready while the operator is to begin the fault, and at no other time.
func TestWhenAFaultIsDue(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	due := &dueServer{}
	due.serve(listener)
	defer due.close()
	check := func(want int) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+resources.PathDue, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("it answers %d, want %d", response.StatusCode, want)
		}
	}
	check(http.StatusServiceUnavailable)
	dismiss := due.summon()
	check(http.StatusOK)
	dismiss()
	check(http.StatusServiceUnavailable)
}
