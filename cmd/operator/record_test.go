// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/topology"
)

// steeredRun is a benchmark with a closed loop, and the files that its recorder has of
// a network of its name. Genesis does not name all nodes of the network.
func steeredRun(t *testing.T) (*v1alpha1.Benchmark, *recordOptions, map[string]ed25519.PublicKey) {
	t.Helper()
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/near-4-shards-local.yaml")
	if err != nil {
		t.Fatal(err)
	}
	benchmark.Namespace = "chains"
	withOthers(&benchmark.Spec.Network.Template.Spec)
	network := &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: benchmark.Namespace, Name: benchmark.Name},
		Spec:       benchmark.Spec.Network.Template.Spec,
	}
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]ed25519.PublicKey{}
	for _, validator := range plan.Nodes {
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

// withOthers gives a network nodes that do not validate.
func withOthers(spec *v1alpha1.ShardNetworkSpec) {
	spec.RPCNodes, spec.ArchiveNodes = 2, 1
	spec.Regions[0].Nodes += 3
	spec.Node.Features.SaveUntrackedChunkParts = v1alpha1.SwitchEnabled
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

// A fixed count is carried by the recorder, and may last as long as the benchmark says.
func TestWhatARecorderCounts(t *testing.T) {
	t.Parallel()
	benchmark, options, _ := steeredRun(t)
	benchmark.Spec.Load = v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileFixedCount, FixedCount: &v1alpha1.FixedCountLoad{Transfers: 7}, Signing: v1alpha1.SigningBefore,
	}
	benchmark.Spec.WarmUpSeconds, benchmark.Spec.DurationSeconds = ptr.To[int32](0), 90
	made, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0], options, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if made.Steering == nil || made.Steering.Load.Count != 7 || made.WarmUp != 0 || made.Duration != 90*time.Second {
		t.Errorf("the recorder has %+v, of %+v", made, made.Steering)
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
			"no document says by which key near-4-shards-local-s0-p0 is known",
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

// namedRun is a benchmark that names a network, and the files that its recorder has.
func namedRun(t *testing.T) (*v1alpha1.Benchmark, *recordOptions) {
	t.Helper()
	benchmark, options, _ := steeredRun(t)
	network := &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: benchmark.Namespace, Name: benchmark.Name, CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
		},
		Spec: benchmark.Spec.Network.Template.Spec,
	}
	content, err := json.Marshal(network)
	if err != nil {
		t.Fatal(err)
	}
	options.network = filepath.Join(t.TempDir(), "network.json")
	if err := os.WriteFile(options.network, content, 0o600); err != nil {
		t.Fatal(err)
	}
	benchmark.Spec.Network = v1alpha1.BenchmarkNetwork{Name: benchmark.Name}
	benchmark.Name = "bench"
	benchmark.Spec.Load = v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: ptr.To[int64](100)},
	}
	return benchmark, options
}

// The load of a network that is named is told by the recorder, whatever its profile.
func TestTheRecorderOfANamedNetwork(t *testing.T) {
	t.Parallel()
	benchmark, options := namedRun(t)
	made, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0], options, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if made.Steering == nil || !made.Steering.InUse || made.Schedule.Rate(0) != 100 || made.Steering.Load.Schedule.Rate(0) != 100 {
		t.Fatalf("the load is steered by %+v", made.Steering)
	}
	name := made.Validators[0].Name
	if want := name + "-0.near-4-shards-local-p2p.chains.svc.cluster.local:26800"; made.Steering.Admin(name).Address != want {
		t.Errorf("the admin API of %s is at %s, want %s", name, made.Steering.Admin(name).Address, want)
	}
	benchmark.Spec.Network.Name = "other"
	if _, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0], options, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "holds the network chains/near-4-shards-local, and the benchmark names chains/other") {
		t.Errorf("of another network, the error is %v", err)
	}
	options.network = ""
	if _, err := recordingOptions(benchmark, bench.Runs(&benchmark.Spec)[0], options, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "names the network other, and needs --network") {
		t.Errorf("without a network, the error is %v", err)
	}
}

// The result says which network was measured, and since when it had been there.
func TestTheResultOfANamedNetwork(t *testing.T) {
	t.Parallel()
	benchmark, options := namedRun(t)
	folder := t.TempDir()
	for _, run := range bench.Runs(&benchmark.Spec) {
		kept := recorded(run, 0.5)
		kept.BeganHeight = 4711
		if err := recording.Write(folder, benchmark.UID, recording.NodeImage{}, kept); err != nil {
			t.Fatal(err)
		}
	}
	made, err := judge(t.Context(), benchmark, folder, options.network, baseline{})
	if err != nil {
		t.Fatal(err)
	}
	want := &result.Network{Name: "near-4-shards-local", CreatedAt: time.Unix(1_700_000_000, 0).UTC(), Height: 4711}
	if !reflect.DeepEqual(made.Environment.Network, want) {
		t.Errorf("the network is %+v, want %+v", made.Environment.Network, want)
	}
	if network := made.Variants[0].Network; network.Shards != 4 || network.Load.Profile != v1alpha1.LoadProfileConstant {
		t.Errorf("what was measured is %+v", network)
	}
	if made.Seeds.Genesis == "" || made.Benchmark.Spec.Network.Name == "" {
		t.Errorf("the result is of %+v", made.Benchmark.Spec.Network)
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
