// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/manifest"
)

func readUserBenchmark(t *testing.T) *v1alpha1.Benchmark {
	t.Helper()
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/cosmos-open-loop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	benchmark.Namespace = "chains"
	return benchmark
}

// Users talk to each rpc node at its own address, and to no validator.
func TestTheRecorderOfUsers(t *testing.T) {
	t.Parallel()
	benchmark := readUserBenchmark(t)
	made, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0],
		&recordOptions{clusterDomain: "cluster.local", loader: "/run/loader.sock"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if made.Steering != nil || made.Users == nil {
		t.Fatalf("the load is steered by %+v, and sent by %+v", made.Steering, made.Users)
	}
	users, network := made.Users.Options, benchmark.Spec.Network.Template.Spec
	if len(users.Nodes) != int(network.RPCNodes) || slices.ContainsFunc(users.Nodes, func(node string) bool {
		return !strings.HasPrefix(node, "http://cosmos-open-loop-r") || !strings.HasSuffix(node, ".svc.cluster.local:26700")
	}) {
		t.Errorf("users talk to %q", users.Nodes)
	}
	warmUp, duration := bench.Measured(&benchmark.Spec)
	if !reflect.DeepEqual(users.Load, benchmark.Spec.Load.OpenLoop) || users.WarmUp != warmUp || users.Duration != duration ||
		users.Accounts != int64(network.Shards)*int64(network.Genesis.AccountsPerShard) || users.Workload.Receivers != "Uniform" {
		t.Errorf("the users are %+v", users)
	}
	if err := made.Users.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "/run/loader.sock") {
		t.Errorf("without a loader, the error is %v", err)
	}
}

// A recorder that lacks what it takes ends before it asks anybody.
func TestRecordersWithoutUsers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(benchmark *v1alpha1.Benchmark, options *recordOptions)
		want  string
	}{
		"no loader": {func(_ *v1alpha1.Benchmark, o *recordOptions) { o.loader = "" }, "needs --loader"},
		"no rpc nodes": {
			func(benchmark *v1alpha1.Benchmark, _ *recordOptions) {
				network := &benchmark.Spec.Network.Template.Spec
				network.Regions[0].Nodes -= network.RPCNodes
				network.RPCNodes = 0
			},
			"the network cosmos-open-loop has none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			benchmark, options := readUserBenchmark(t), &recordOptions{loader: "/run/loader.sock"}
			test.spoil(benchmark, options)
			_, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0], options, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// A copy of the program is the program, whatever was there before.
func TestCopyOfTheProgram(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "operator")
	for range 2 {
		command := newCommand()
		command.SetArgs([]string{"copy-program", "--to", to})
		if err := command.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wanted, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(copied, wanted) || info.Mode().Perm() != 0o555 {
		t.Errorf("the copy has %d bytes of %d, and the mode %s", len(copied), len(wanted), info.Mode())
	}
}
