// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
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
	"github.com/shardyard/shardyard/internal/resources"
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

// What the pod of a fault is told is who the fault is of, and where the nodes are.
func TestWhatMeasuresAFault(t *testing.T) {
	t.Parallel()
	_, files, _ := steeredRun(t)
	order := newOrder(t, "partition-shard")
	order.Network.Name = "near-4-shards-local"
	order.Fault.Spec.NetworkName = order.Network.Name
	options := &faultOptions{clusterDomain: "cluster.local", adminToken: files.adminToken, genesis: files.genesis}
	made, err := options.faulting(order)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Scope) != 2 || len(made.Orders) != 4 || made.Scope[0].Shard != 1 {
		t.Errorf("it is of %+v, by %+v", made.Scope, made.Orders)
	}
	if _, ok := made.Actor.(*faulting.Nodes); !ok || made.Summon != nil {
		t.Errorf("it is begun by %T", made.Actor)
	}
	name := made.Scope[0].Name
	if got, want := made.Address(name), name+"-0.near-4-shards-local-p2p.chains.svc.cluster.local:"; !strings.HasPrefix(got, want) {
		t.Errorf("%s is at %s, want %s", name, got, want)
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
		"no token":    {"partition-shard", faultOptions{}, nil, "action Partition needs --admin-token and --genesis"},
		"no file":     {"partition-shard", faultOptions{adminToken: "none", genesis: "none"}, nil, "read the token of the admin API"},
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
				"--admin-token=": test.options.adminToken, "--genesis=": test.options.genesis, "--listen=": test.options.listen,
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
