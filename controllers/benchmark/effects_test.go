// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/verdict"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/fields"
)

const (
	// inRuns is which runs there are, in which order, and which of them at the same time.
	inRuns fields.Effect = "runs"
	// inNetworks are the networks of the variants' runs.
	inNetworks fields.Effect = "networks"
	// inLoad is what a network carries.
	inLoad fields.Effect = "load"
	// inMeasurement is when a run is measured.
	inMeasurement fields.Effect = "measurement"
	// inVerdict is what comes of runs.
	inVerdict fields.Effect = "verdict"
	// inPods are the pods that record, judge and upload.
	inPods fields.Effect = "pods"
	// inRoom is what memory these have, and disk for records.
	inRoom fields.Effect = "room"
	// inObjects are all other objects, but for the copy of the spec that pods read.
	inObjects fields.Effect = "objects"
)

// effectsOf is all that the operator and its pods make of a benchmark.
func effectsOf(t *testing.T, benchmark *v1alpha1.Benchmark) map[fields.Effect]string {
	t.Helper()
	spec := &benchmark.Spec
	var networks []any
	for variant := range max(1, len(spec.Variants)) {
		networks = append(networks, bench.NetworkSpec(spec, variant))
	}
	warmUp, duration := bench.Measured(spec)
	inputs := resources.RecorderInputs{Image: "operator:test", ClusterDomain: "cluster.local"}
	made, err := resources.BenchmarkObjects(benchmark, topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	pods := podsOf(benchmark, inputs)
	var room []any
	for _, object := range made {
		switch of := object.(type) {
		case *corev1.ConfigMap:
			of.Data = nil
		case *corev1.PersistentVolumeClaim:
			room = append(room, of.Spec.Resources)
			of.Spec.Resources = corev1.VolumeResourceRequirements{}
		}
	}
	for _, pod := range pods {
		container := &pod.Spec.Containers[0]
		room = append(room, container.Resources)
		container.Resources = corev1.ResourceRequirements{}
	}
	return map[fields.Effect]string{
		inRuns:        fields.Text(t, bench.Rounds(spec)),
		inNetworks:    fields.Text(t, networks),
		inLoad:        fields.Text(t, loadOf(t, &spec.Load)),
		inMeasurement: fields.Text(t, []any{warmUp, duration}),
		inVerdict:     fields.Text(t, verdictOf(benchmark)),
		inPods:        fields.Text(t, pods),
		inRoom:        fields.Text(t, room),
		inObjects:     fields.Text(t, made),
	}
}

// podsOf are the pods that record, judge and upload.
func podsOf(benchmark *v1alpha1.Benchmark, inputs resources.RecorderInputs) []*corev1.Pod {
	made := []*corev1.Pod{resources.NewRecorder(benchmark, 1, inputs), resources.NewJudge(benchmark, inputs)}
	if benchmark.Spec.Upload != nil {
		made = append(made, resources.NewUploader(benchmark, inputs))
	}
	return made
}

// loadOf is what networks carry in ten minutes: one whose blocks take long under load,
// one that lets transfers wait instead, and one that can do more than anybody asks
// for.
func loadOf(t *testing.T, spec *v1alpha1.LoadSpec) []any {
	t.Helper()
	var found []any
	for _, network := range []*carrier{
		{capacity: 1500, most: math.Inf(1)}, {capacity: math.Inf(1), most: 700}, {capacity: math.Inf(1), most: math.Inf(1)},
	} {
		load, err := loading.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		var rates []int64
		for elapsed := time.Duration(0); elapsed < 10*time.Minute; elapsed += time.Second {
			rate := load.Rate(elapsed)
			rates = append(rates, rate)
			if status := network.carry(elapsed, rate); load.Loop != nil {
				load.Loop.Observe(bench.Sample{Nodes: []bench.NodeSample{{Name: "node", Status: status}}}, beginning.Add(elapsed))
			}
		}
		// Clients, if there are any, are told of themselves and sign for themselves.
		found = append(found, load.Workload, rates, load.Count, load.Users)
		if load.Loop != nil {
			found = append(found, load.Loop.MostSettling)
		}
	}
	return found
}

// beginning is when networks begin to carry their load.
var beginning = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// carrier is a chain with a block each second or, when it has to execute more than it
// can in that time, every few seconds.
type carrier struct {
	// capacity is what it executes per second, and most what it puts into a block.
	capacity, most float64

	pool, executed float64
	height         uint64
	finalized, due time.Duration
}

// carry lets a second pass under a load.
func (c *carrier) carry(elapsed time.Duration, rate int64) *chain.Status {
	c.pool += float64(rate)
	if elapsed >= c.due {
		included := min(c.pool, c.most)
		c.pool, c.executed, c.height, c.finalized = c.pool-included, c.executed+included, c.height+1, elapsed
		c.due = elapsed + max(time.Second, time.Duration(included/c.capacity*float64(time.Second)))
	}
	return &chain.Status{
		FinalizedHeight: c.height, FinalizedTimeMs: beginning.Add(c.finalized).UnixMilli(), Transfers: uint64(c.executed),
		Shards: []chain.ShardStatus{{}}, Pool: chain.PoolStatus{Transactions: uint64(c.pool)},
	}
}

// verdictOf is what comes of runs of which the second variant's cost a fifth more, and
// all are a little different.
func verdictOf(benchmark *v1alpha1.Benchmark) []any {
	spec := &benchmark.Spec
	made := &result.Result{Benchmark: *benchmark, Variants: []result.Variant{{}}}
	if len(spec.Variants) > 0 {
		made.Variants = nil
	}
	for i := range spec.Variants {
		made.Variants = append(made.Variants, result.Variant{Name: spec.Variants[i].Name})
	}
	for _, run := range bench.Runs(spec) {
		cost := 0.5 + 0.1*float64(run.Variant) + 0.01*float64(run.Repetition)
		recorded := result.Run{
			Variant: run.VariantName, Repetition: run.Repetition, Window: result.Window{EndMs: 60_000}, Nodes: []result.Node{{}},
		}
		for second := range 61 {
			uneven := float64(second*7919%13) / 100
			recorded.Blocks = append(recorded.Blocks, result.Block{
				Height: uint64(second), TimestampMs: int64(second) * 1000, Included: 900, Executed: 1000, Shards: 2,
			})
			recorded.Samples = append(recorded.Samples, result.Sample{
				TimeMs: int64(second) * 1000, CPUSeconds: ptr.To(float64(second)*cost + uneven),
			})
		}
		made.Runs = append(made.Runs, recorded)
	}
	verdict.Conclude(made, nil, "")
	return []any{made.Variants, made.Comparison, made.Verdict}
}
