// SPDX-License-Identifier: Apache-2.0

package verdict_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/verdict"
)

// runs makes runs that execute so many transfers a second, at a cost that
// differs from run to run by about a tenth of a percent.
func runs(seed uint64, count int, transfers uint64, cost float64) []*result.Run {
	random := rand.New(rand.NewPCG(seed, 0))
	made := make([]*result.Run, 0, count)
	for range count {
		run := &result.Run{Window: result.Window{BeginMs: 0, EndMs: 20_000}}
		cost := cost * (1 + 0.001*random.NormFloat64())
		for second := range 21 {
			run.Blocks = append(run.Blocks, result.Block{
				Height: uint64(second), TimestampMs: int64(second) * 1000,
				Executed: transfers + random.Uint64N(3), Included: transfers, Shards: 4,
			})
			run.Samples = append(run.Samples, result.Sample{
				TimeMs: int64(second) * 1000, CPUSeconds: ptr.To(float64(second) * cost),
			})
		}
		made = append(made, run)
	}
	return made
}

func how(floor int32, figures ...v1alpha1.BenchmarkFigure) *v1alpha1.BenchmarkBaseline {
	return &v1alpha1.BenchmarkBaseline{Figures: figures, ConfidencePercent: 95, FloorPercent: &floor}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const tps, cpu = v1alpha1.FigureExecutedPerSecond, v1alpha1.FigureCPUMicrosecondsPerTransfer
	cases := map[string]struct {
		transfers uint64
		cost      float64
		figure    v1alpha1.BenchmarkFigure
		floor     int32
		want      result.ChangeOutcome
		words     string
	}{
		"the same cost":              {1000, 0.5, cpu, 1, result.ChangeNone, "no change of more than 1%"},
		"3% more cost":               {1000, 0.515, cpu, 1, result.ChangeWorse, "all of that is worse by more than 1%"},
		"3% more cost, floor of 5%":  {1000, 0.515, cpu, 5, result.ChangeNone, "no change of more than 5%"},
		"3% more cost, floor of 3%":  {1000, 0.515, cpu, 3, result.ChangeUnclear, "too uncertain to tell a change of 3% from none"},
		"3% less cost":               {1000, 0.485, cpu, 1, result.ChangeBetter, "all of that is better by more than 1%"},
		"3% fewer transfers":         {970, 0.5, tps, 1, result.ChangeWorse, "ExecutedPerSecond changed by -"},
		"3% more transfers":          {1030, 0.5, tps, 1, result.ChangeBetter, "ExecutedPerSecond changed by +"},
		"a figure nobody knows":      {1000, 0.5, v1alpha1.FigureMemoryMebibytes, 1, result.ChangeUnknown, "MemoryMebibytes cannot be compared"},
		"no chunk missed by anybody": {1000, 0.5, v1alpha1.FigureMissedChunksPercent, 1, result.ChangeNone, "percentage points"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comparison := verdict.Compare(
				verdict.Side{Name: "before", Runs: runs(1, 5, 1000, 0.5)},
				verdict.Side{Name: "after", Runs: runs(2, 5, test.transfers, test.cost)},
				how(test.floor, test.figure), true, 1)
			if len(comparison.Changes) != 1 || len(comparison.Notes) > 0 || !comparison.Paired {
				t.Fatalf("the comparison is %+v", comparison)
			}
			change := comparison.Changes[0]
			if change.Outcome != test.want || !strings.Contains(change.Words, test.words) {
				t.Errorf("the change is %s, %q, want %s, %q", change.Outcome, change.Words, test.want, test.words)
			}
		})
	}
}

func TestCompareOneRun(t *testing.T) {
	t.Parallel()
	comparison := verdict.Compare(
		verdict.Side{Name: "before", Runs: runs(1, 3, 1000, 0.5)}, verdict.Side{Name: "after", Runs: runs(2, 1, 1000, 0.5)},
		how(1, v1alpha1.FigureExecutedPerSecond), true, 1)
	if comparison.Paired || len(comparison.Notes) != 1 || !strings.Contains(comparison.Notes[0], "one run tells nothing") {
		t.Errorf("the comparison is %+v, want a note", comparison)
	}
}

func executesAtLeast(value string) v1alpha1.BenchmarkCriterion {
	return v1alpha1.BenchmarkCriterion{Figure: v1alpha1.FigureExecutedPerSecond, AtLeast: ptr.To(resource.MustParse(value))}
}

func atMost(figure v1alpha1.BenchmarkFigure, value string) v1alpha1.BenchmarkCriterion {
	return v1alpha1.BenchmarkCriterion{Figure: figure, AtMost: ptr.To(resource.MustParse(value))}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const tps, missed = v1alpha1.FigureExecutedPerSecond, v1alpha1.FigureMissedChunksPercent
	candidate := &result.Variant{Figures: []result.Figure{
		{Name: tps, Unit: "transfers/s", Value: 1500}, {Name: missed, Unit: "%", Value: 0.5},
	}}
	worse := &result.Comparison{Changes: []result.Change{
		{Outcome: result.ChangeNone, Words: "one is the same"}, {Outcome: result.ChangeWorse, Words: "another is worse"},
	}}
	unclear := &result.Comparison{Changes: []result.Change{{Outcome: result.ChangeUnclear, Words: "nobody knows"}}}
	faulty := []result.Run{{Repetition: 1}, {Variant: "b", Repetition: 2, Fault: "the supply is not conserved"}}
	cases := map[string]struct {
		criteria   []v1alpha1.BenchmarkCriterion
		runs       []result.Run
		comparison *result.Comparison
		want       result.Outcome
		first      string
	}{
		"nothing to say": {want: result.Succeeded, first: "the runs came to their end; there are no criteria, and nothing to compare with"},
		"all met": {
			criteria: []v1alpha1.BenchmarkCriterion{executesAtLeast("1500"), atMost(missed, "500m")},
			want:     result.Succeeded, first: "ExecutedPerSecond is 1500.0 transfers/s, as its criterion wants",
		},
		"too few": {
			criteria: []v1alpha1.BenchmarkCriterion{atMost(missed, "1"), executesAtLeast("1501")},
			want:     result.Failed, first: "ExecutedPerSecond is 1500.0 transfers/s, and must be at least 1501",
		},
		"too many": {
			criteria: []v1alpha1.BenchmarkCriterion{atMost(missed, "0.4")},
			want:     result.Failed, first: "MissedChunksPercent is 0.500 %, and must be at most 0.4",
		},
		"not known": {
			criteria: []v1alpha1.BenchmarkCriterion{atMost(v1alpha1.FigureCPUCores, "1")},
			want:     result.Failed, first: "CPUCores is not known, and there is a criterion for it",
		},
		"a fault": {
			runs: faulty, comparison: worse,
			want: result.Failed, first: "run 2 of b does not count: the supply is not conserved",
		},
		"worse": {
			criteria: []v1alpha1.BenchmarkCriterion{executesAtLeast("1500")}, comparison: worse,
			want: result.Regressed, first: "another is worse",
		},
		"failed and worse": {
			criteria: []v1alpha1.BenchmarkCriterion{executesAtLeast("1501")}, comparison: worse,
			want: result.Failed, first: "ExecutedPerSecond is 1500.0 transfers/s, and must be at least 1501",
		},
		"unclear": {comparison: unclear, want: result.Succeeded, first: "nobody knows"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := verdict.Judge(test.criteria, test.runs, candidate, test.comparison)
			if got.Outcome != test.want || got.Words[0] != test.first {
				t.Errorf("the verdict is %s, %q, want %s, %q", got.Outcome, got.Words, test.want, test.first)
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	before := &result.Result{
		Environment: result.Environment{CPUs: 2, Kernel: "6.1"},
		Variants:    []result.Variant{{Shardnode: result.Program{SHA256: "a"}}},
	}
	after := &result.Result{
		Environment: result.Environment{CPUs: 4, Kernel: "6.1"},
		Variants:    []result.Variant{{Shardnode: result.Program{SHA256: "a"}}},
	}
	after.Variants[0].Network.Shards = 3
	got := strings.Join(verdict.Differences(before, after), "; ")
	want := "the number of processors differs: 2, and now 4; the network's spec differs; the node program is the same"
	if got != want {
		t.Errorf("the differences are %q, want %q", got, want)
	}
	before.Runs = []result.Run{{Machines: []result.Machines{{Count: 2, Type: "c4", CPUs: 16, Kernel: "6.1"}, {Count: 2, Type: "e2"}}}}
	after.Runs = []result.Run{{Machines: []result.Machines{{Count: 4, Type: "c4", CPUs: 16, Kernel: "6.6"}}}}
	want = "the kind of machines differs: c4, 16 processors and e2, and now c4, 16 processors"
	if got := verdict.Differences(before, after); !slices.Contains(got, want) {
		t.Errorf("the differences are %q, want %q among them", got, want)
	}
	after.Runs = before.Runs
	after.Environment, after.Variants = before.Environment, []result.Variant{{Shardnode: result.Program{SHA256: "b"}}}
	if got := verdict.Differences(before, after); len(got) > 0 {
		t.Errorf("the differences are %q, want none", got)
	}
}
