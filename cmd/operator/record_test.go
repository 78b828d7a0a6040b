// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

// steeredRun is a benchmark with a closed loop, and the files that its recorder has of
// a network of its name.
func steeredRun(t *testing.T) (*v1alpha1.Benchmark, *recordOptions, map[string]ed25519.PublicKey) {
	t.Helper()
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/near-4-shards-local.yaml")
	if err != nil {
		t.Fatal(err)
	}
	benchmark.Namespace = "chains"
	network := &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: benchmark.Namespace, Name: benchmark.Name},
		Spec:       benchmark.Spec.Network.Template.Spec,
	}
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]ed25519.PublicKey{}
	for _, validator := range plan.Validators {
		if keys[validator.Name], _, err = ed25519.GenerateKey(nil); err != nil {
			t.Fatal(err)
		}
	}
	genesis, err := nodeconfig.NewGenesis(network, plan, keys, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	document, err := nodeconfig.Encode(genesis)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	options := &recordOptions{
		clusterDomain: "cluster.local",
		adminToken:    filepath.Join(folder, "admin.token"), genesis: filepath.Join(folder, "genesis.json"),
	}
	for path, content := range map[string]string{options.adminToken: "the-token\n", options.genesis: string(document)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return benchmark, options, keys
}

func TestWhatARecorderSteersWith(t *testing.T) {
	t.Parallel()
	benchmark, options, keys := steeredRun(t)
	made, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0], options, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if made.Steering == nil || made.Steering.Load.Loop == nil {
		t.Fatalf("the load is steered by %+v", made.Steering)
	}
	name := made.Validators[0].Name
	admin := made.Steering.Admin(name)
	if want := name + "-0." + benchmark.Name + "-p2p.chains.svc.cluster.local:26800"; admin.Address != want || admin.Token != "the-token" ||
		!admin.PublicKey.Equal(keys[name]) {
		t.Errorf("the admin API of %s is %+v, want %s and its key", name, admin, want)
	}
}

// A recorder that lacks what it takes ends before it asks anybody.
func TestRecordersThatCannotSteer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(*testing.T, *recordOptions)
		want  string
	}{
		"no token": {func(_ *testing.T, o *recordOptions) { o.adminToken = "" }, "needs --admin-token and --genesis"},
		"no file":  {func(_ *testing.T, o *recordOptions) { o.genesis += "x" }, "read the genesis document: open "},
		"another network": {
			func(t *testing.T, o *recordOptions) {
				t.Helper()
				if err := os.WriteFile(o.genesis, []byte(`{"validators":[]}`), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			"names no validator near-4-shards-local-s0-p0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			benchmark, options, _ := steeredRun(t)
			test.spoil(t, options)
			_, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0], options, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "the-token") {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// A load that the operator tells nodes is recorded without any token.
func TestRecordersThatDoNotSteer(t *testing.T) {
	t.Parallel()
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/before-after-local.yaml")
	if err != nil {
		t.Fatal(err)
	}
	made, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0], &recordOptions{}, io.Discard)
	if err != nil || made.Steering != nil || made.Schedule.Settled() != 0 {
		t.Errorf("the run is recorded by %+v: %v", made, err)
	}
}
