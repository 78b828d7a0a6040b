// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/manifest"
)

func benchmark(t *testing.T, name string) *v1alpha1.Benchmark {
	t.Helper()
	read, err := manifest.ReadBenchmark("../../../config/samples/benchmark/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestVariants(t *testing.T) {
	t.Parallel()
	options := Options{
		Benchmark: benchmark(t, "before-after-local"), Shardnode: "/bin/node", Shardnodes: map[string]string{"after": "/bin/next"},
	}
	variants := options.variants()
	if len(variants) != 2 {
		t.Fatalf("there are %d variants, want 2", len(variants))
	}
	before, after := variants[0], variants[1]
	if before.name != "before" || before.shardnode != "/bin/node" || after.shardnode != "/bin/next" {
		t.Errorf("the variants are %+v", variants)
	}
	if before.network.Name != "before-after-local" || len(before.network.Spec.Load.Ramp.Steps) != 1 {
		t.Errorf("the network is %+v", before.network)
	}
	if got, want := *before.network.Spec.Node.Features.SignatureBatchSize, int32(0); got != want {
		t.Errorf("the first variant has a batch size of %d, want %d, which is the network's", got, want)
	}
	if got, want := *after.network.Spec.Node.Features.SignatureBatchSize, int32(1); got != want {
		t.Errorf("the second variant has a batch size of %d, want %d, which is its own", got, want)
	}

	alone := Options{Benchmark: benchmark(t, "near-4-shards-local"), Shardnode: "/bin/node"}
	if variants := alone.variants(); len(variants) != 1 || variants[0].name != "" || variants[0].shardnode != "/bin/node" {
		t.Errorf("the variants are %+v, want one without a name", variants)
	}
}

// Variants take turns, and each goes first as often as the other.
func TestSchedule(t *testing.T) {
	t.Parallel()
	names := func(runs []planned) string {
		var names []string
		for _, run := range runs {
			names = append(names, run.folder())
		}
		return strings.Join(names, " ")
	}
	two := []variant{{name: "a"}, {name: "b"}}
	if got, want := names(schedule(two, 3)), "a-1 b-1 b-2 a-2 a-3 b-3"; got != want {
		t.Errorf("the runs are %s, want %s", got, want)
	}
	if got, want := names(schedule([]variant{{}}, 2)), "run-1 run-2"; got != want {
		t.Errorf("the runs are %s, want %s", got, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	compared := func() *v1alpha1.Benchmark {
		alone := benchmark(t, "near-4-shards-local")
		alone.Spec.Baseline = &v1alpha1.BenchmarkBaseline{Figures: []v1alpha1.BenchmarkFigure{v1alpha1.FigureExecutedPerSecond}}
		return alone
	}
	cases := map[string]struct {
		options Options
		want    string
	}{
		"two variants":             {options: Options{Benchmark: benchmark(t, "before-after-local")}},
		"nothing to compare":       {options: Options{Benchmark: benchmark(t, "near-4-shards-local")}},
		"compared with an earlier": {options: Options{Benchmark: compared(), Baseline: &result.Result{}}},
		"compared with none":       {options: Options{Benchmark: compared(), Without: true}},
		"no such variant": {
			options: Options{Benchmark: benchmark(t, "before-after-local"), Shardnodes: map[string]string{"afte": "/bin/next"}},
			want:    "--shardnode afte=/bin/next: the benchmark has no variant of that name",
		},
		"two baselines": {
			options: Options{Benchmark: benchmark(t, "before-after-local"), Baseline: &result.Result{}},
			want:    "--baseline: of two variants, the first is the baseline of the second",
		},
		"nobody says how": {
			options: Options{Benchmark: benchmark(t, "near-4-shards-local"), Baseline: &result.Result{}},
			want:    "--baseline: the benchmark does not say how to compare: it has no spec.baseline",
		},
		"nothing to compare with": {
			options: Options{Benchmark: compared()},
			want: "spec.baseline says how to compare, and there is nothing to compare with: " +
				"name an earlier artifact with --baseline, or none with --baseline none",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.options.Check()
			if got := errorText(err); got != test.want {
				t.Errorf("the error is %q, want %q", got, test.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// recorded is a run whose chain executes as many transfers a second as it is
// told, at a cost.
func recorded(variant string, repetition int, cost float64) result.Run {
	run := result.Run{
		Variant: variant, Repetition: repetition, Window: result.Window{BeginMs: 0, EndMs: 20_000},
		Nodes: []result.Node{{Version: "0.1.0"}},
	}
	for second := range 21 {
		run.Blocks = append(run.Blocks, result.Block{Height: uint64(second), TimestampMs: int64(second) * 1000, Executed: 1000, Shards: 2})
		run.Samples = append(run.Samples, result.Sample{TimeMs: int64(second) * 1000, CPUSeconds: ptr.To(float64(second) * cost)})
	}
	return run
}

func TestConclude(t *testing.T) {
	t.Parallel()
	options := Options{Benchmark: benchmark(t, "before-after-local")}
	made := &result.Result{Variants: []result.Variant{{Name: "before"}, {Name: "after"}}}
	for repetition := range 3 {
		made.Runs = append(made.Runs, recorded("after", repetition+1, 0.6), recorded("before", repetition+1, 0.5))
	}
	options.conclude(made)
	if made.Verdict.Outcome != result.Regressed || !strings.Contains(made.Verdict.Words[0], "CPUMicrosecondsPerTransfer changed by +20.00%") {
		t.Errorf("the verdict is %+v, want that the second variant costs 20%% more", made.Verdict)
	}
	if comparison := made.Comparison; comparison.Baseline != "before" || comparison.Candidate != "after" || !comparison.Paired {
		t.Errorf("the comparison is %+v", comparison)
	}
	if made.Candidate().Shardnode.Version != "0.1.0" || made.Variants[0].FigureOf(v1alpha1.FigureExecutedPerSecond).Value != 1000 {
		t.Errorf("the variants are %+v", made.Variants)
	}
}

func TestConcludeWithAnEarlierResult(t *testing.T) {
	t.Parallel()
	alone := benchmark(t, "near-4-shards-local")
	alone.Spec.Criteria = nil
	alone.Spec.Baseline = benchmark(t, "before-after-local").Spec.Baseline
	earlier := &result.Result{Variants: []result.Variant{{}}, Runs: []result.Run{recorded("", 1, 0.6), recorded("", 2, 0.6)}}
	options := Options{Benchmark: alone, Baseline: earlier, BaselineName: "monday"}
	made := &result.Result{
		Benchmark: *alone, Environment: result.Environment{CPUs: 2}, Variants: []result.Variant{{}},
		Runs: []result.Run{recorded("", 1, 0.5), recorded("", 2, 0.5)},
	}
	options.conclude(made)
	comparison := made.Comparison
	if made.Verdict.Outcome != result.Succeeded || comparison.Baseline != "monday" || comparison.Paired {
		t.Errorf("the verdict is %+v by %+v", made.Verdict, comparison)
	}
	if got := comparison.Changes[1].Outcome; got != result.ChangeBetter {
		t.Errorf("the change of the cost is %s, want it to be better", got)
	}
	if !slices.Contains(comparison.Notes, "the number of processors differs: 0, and now 2") {
		t.Errorf("the notes are %q", comparison.Notes)
	}
}
