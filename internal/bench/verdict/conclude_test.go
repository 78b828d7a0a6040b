// SPDX-License-Identifier: Apache-2.0

package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/verdict"
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
	made := &result.Result{Benchmark: *benchmark(t, "before-after-local"), Variants: []result.Variant{{Name: "before"}, {Name: "after"}}}
	for repetition := range 3 {
		made.Runs = append(made.Runs, recorded("after", repetition+1, 0.6), recorded("before", repetition+1, 0.5))
	}
	verdict.Conclude(made, nil, "")
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

// counted are the counts of 1,000 transfers that took so many seconds in two of the
// phases.
func counted(execution, validation float64) *result.Counts {
	counts := &result.Counts{Counters: []result.Counter{{Metric: result.TransfersMetric, Count: 1000}}}
	for metric, seconds := range map[string]float64{
		result.ExecutionMetric: execution, result.WitnessValidationMetric: validation,
		result.WitnessMakeMetric: 0.01, result.WitnessReceiveMetric: 0.3,
	} {
		counts.Histograms = append(counts.Histograms, result.Histogram{Metric: metric, Count: 10, Sum: seconds})
	}
	return counts
}

// A regression names the phase that grew most, and not the largest.
func TestPhases(t *testing.T) {
	t.Parallel()
	const words = "of what nodes time, validating witnesses grew most: from 20.00 to 24.00 µs a transfer, all nodes together"
	for name, test := range map[string]struct {
		before, after *result.Counts
		cost          float64
		want          bool
	}{
		"two grew":        {counted(0.1, 0.02), counted(0.102, 0.024), 0.6, true},
		"no regression":   {counted(0.1, 0.02), counted(0.102, 0.024), 0.5, false},
		"none grew":       {counted(0.1, 0.02), counted(0.1, 0.02), 0.6, false},
		"not known of it": {counted(0.1, 0.02), nil, 0.6, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := &result.Result{Benchmark: *benchmark(t, "before-after-local"), Variants: []result.Variant{{Name: "before"}, {Name: "after"}}}
			for repetition := range 3 {
				before, after := recorded("before", repetition+1, 0.5), recorded("after", repetition+1, test.cost)
				before.Counts, after.Counts = test.before, test.after
				made.Runs = append(made.Runs, before, after)
			}
			verdict.Conclude(made, nil, "")
			if got := slices.Contains(made.Verdict.Words, words); got != test.want {
				t.Errorf("the verdict is %+v by %+v", made.Verdict, made.Comparison.Phases)
			}
		})
	}
}

func TestConcludeWithAnEarlierResult(t *testing.T) {
	t.Parallel()
	alone := benchmark(t, "near-4-shards-local")
	alone.Spec.Criteria = nil
	alone.Spec.Baseline = benchmark(t, "before-after-local").Spec.Baseline
	earlier := &result.Result{Variants: []result.Variant{{}}, Runs: []result.Run{recorded("", 1, 0.6), recorded("", 2, 0.6)}}
	made := &result.Result{
		Benchmark: *alone, Environment: result.Environment{CPUs: 2}, Variants: []result.Variant{{}},
		Runs: []result.Run{recorded("", 1, 0.5), recorded("", 2, 0.5)},
	}
	verdict.Conclude(made, earlier, "monday")
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

// Earlier runs that do not count hide no regression; with all of them there is nothing to
// compare with, and the result says so.
func TestConcludeWithEarlierRunsThatDoNotCount(t *testing.T) {
	t.Parallel()
	alone := benchmark(t, "near-4-shards-local")
	alone.Spec.Criteria = nil
	alone.Spec.Baseline = benchmark(t, "before-after-local").Spec.Baseline
	earlier := &result.Result{
		Variants: []result.Variant{{}}, Runs: []result.Run{recorded("", 1, 0.5), recorded("", 2, 0.9), recorded("", 3, 0.5)},
	}
	earlier.Runs[1].Fault = "the supply is not conserved"
	conclude := func() *result.Result {
		made := &result.Result{
			Benchmark: *alone, Variants: []result.Variant{{}},
			Runs: []result.Run{recorded("", 1, 0.6), recorded("", 2, 0.6), recorded("", 3, 0.6)},
		}
		verdict.Conclude(made, earlier, "monday")
		return made
	}
	made := conclude()
	if made.Verdict.Outcome != result.Regressed || !strings.Contains(made.Verdict.Words[0], "CPUMicrosecondsPerTransfer changed by +20.00%") {
		t.Errorf("the verdict is %+v, want that it costs 20%% more", made.Verdict)
	}
	const note = "run 2 of monday does not count: the supply is not conserved"
	if !slices.Contains(made.Comparison.Notes, note) {
		t.Errorf("the notes are %q, want %q", made.Comparison.Notes, note)
	}
	for i := range earlier.Runs {
		earlier.Runs[i].Fault = "the supply is not conserved"
	}
	if made = conclude(); made.Comparison.Tells() || made.Verdict.Outcome != result.Succeeded || len(made.Comparison.Phases) > 0 {
		t.Errorf("the verdict is %+v by %+v, want that nothing can be compared", made.Verdict, made.Comparison)
	}
	if words := made.Verdict.Words[0]; !strings.HasSuffix(words, " cannot be compared: no run of monday counts") {
		t.Errorf("the verdict says %q", words)
	}
}

// Of two variants, runs are compared in pairs only while each has its other one.
func TestConcludeWithoutARunOfAPair(t *testing.T) {
	t.Parallel()
	made := &result.Result{Benchmark: *benchmark(t, "before-after-local"), Variants: []result.Variant{{Name: "before"}, {Name: "after"}}}
	for repetition := range 4 {
		made.Runs = append(made.Runs, recorded("before", repetition+1, 0.5), recorded("after", repetition+1, 0.6))
	}
	made.Runs[0].Fault, made.Runs[7].Fault = "one thing", "another"
	verdict.Conclude(made, nil, "")
	if made.Verdict.Outcome != result.Failed || made.Comparison.Paired {
		t.Errorf("the verdict is %+v by %+v, want no pairs", made.Verdict, made.Comparison)
	}
	made.Runs[1].Fault, made.Runs[6].Fault = "one thing", "another"
	if verdict.Conclude(made, nil, ""); !made.Comparison.Paired || len(made.Comparison.Notes) != 4 {
		t.Errorf("without two whole pairs, the comparison is %+v", made.Comparison)
	}
}
