// SPDX-License-Identifier: Apache-2.0

package result_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// run is one of a chain that finalises a block each second, measured from 2.5 s
// to 5 s.
func run() result.Run {
	made := result.Run{Variant: "a", Repetition: 2, Window: result.Window{BeginMs: 2500, EndMs: 5000}}
	for height := range uint64(8) {
		block := result.Block{
			Height: height, TimestampMs: int64(height) * 1000, Included: 10, Executed: 9, Failed: ptr.To[uint64](1), Credits: 8, Shards: 2,
		}
		if height == 0 {
			block.Failed, block.MissedChunks = nil, 2
		}
		made.Blocks = append(made.Blocks, block)
		made.Samples = append(made.Samples, result.Sample{TimeMs: block.TimestampMs + 500})
	}
	return made
}

func heights(blocks []result.Block) []uint64 {
	var heights []uint64
	for _, block := range blocks {
		heights = append(heights, block.Height)
	}
	return heights
}

func TestMeasured(t *testing.T) {
	t.Parallel()
	made := run()
	// From the block at 2 s to the one at 5 s: all of the window.
	if got, want := heights(made.MeasuredBlocks()), []uint64{3, 4, 5}; !reflect.DeepEqual(got, want) {
		t.Errorf("blocks %v are measured, want %v", got, want)
	}
	if got := len(made.MeasuredSamples()); got != 3 {
		t.Errorf("%d samples are measured, want those at 2.5 s, 3.5 s and 4.5 s", got)
	}

	// A standstill over the end of the window counts.
	made.Blocks[5].TimestampMs = 60_000
	if got, want := made.MeasuredTimesMs(), []int64{1000, 1000, 56_000}; !reflect.DeepEqual(got, want) {
		t.Errorf("the block times are %v, want %v", got, want)
	}

	// Blocks that end before the window does measure nothing.
	made.Blocks = made.Blocks[:5]
	if got := made.MeasuredBlocks(); got != nil {
		t.Errorf("blocks %v are measured, want none", heights(got))
	}
	// Nor do blocks that begin after it did.
	made = run()
	made.Blocks = made.Blocks[3:]
	if got := made.MeasuredTimesMs(); got != nil {
		t.Errorf("block times %v are measured, want none", got)
	}
}

// The first block of a fixed count is counted from the beginning of the load, and its
// block time is from the block before.
func TestMeasuredSpans(t *testing.T) {
	t.Parallel()
	made := run()
	if got, want := made.MeasuredSpansMs(), []int64{1000, 1000, 1000}; !reflect.DeepEqual(got, want) {
		t.Errorf("the blocks count over %v, want %v", got, want)
	}
	made.FixedCount = &result.FixedCount{}
	if got, want := made.MeasuredSpansMs(), []int64{500, 1000, 1000}; !reflect.DeepEqual(got, want) {
		t.Errorf("the blocks are counted, of a fixed count, over %v, want %v", got, want)
	}
	if got, want := made.MeasuredTimesMs(), []int64{1000, 1000, 1000}; !reflect.DeepEqual(got, want) {
		t.Errorf("the block times of a fixed count are %v, want %v", got, want)
	}
	made.Blocks = made.Blocks[:5]
	if got := made.MeasuredSpansMs(); got != nil {
		t.Errorf("blocks that end before the window count over %v, want none", got)
	}
}

func TestBlocksAsCSV(t *testing.T) {
	t.Parallel()
	made := run()
	made.Blocks = append(made.Blocks[:1:1], made.Blocks[2], made.Blocks[5])
	var content bytes.Buffer
	if err := (&result.Result{Runs: []result.Run{made}}).WriteBlocks(&content); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"variant,repetition,measured,height,timestampMs,blockTimeMs,included,executed,failed,credits,shards,missedChunks",
		"a,2,false,0,0,,10,9,,8,2,2",
		"a,2,false,2,2000,2000,10,9,1,8,2,0",
		"a,2,true,5,5000,3000,10,9,1,8,2,0",
		"",
	}, "\n")
	if got := content.String(); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
}

// failures are so many that failed for a reason, and were refused for another.
func failures(nonce, full uint64) *result.Failures {
	return &result.Failures{Failed: map[string]uint64{"nonce": nonce}, Refused: map[string]uint64{"full": full}}
}

// What failed between two times is a row for each reason, whoever told nothing in
// between; a node that began anew tells nothing of what was before.
func TestFailuresAsCSV(t *testing.T) {
	t.Parallel()
	made := run()
	for at, told := range []*result.Failures{
		failures(1, 7), failures(1, 17), failures(4, 17), nil, failures(4, 57), failures(0, 57), failures(0, 57), failures(2, 60),
	} {
		made.Samples[at].Failures = told
	}
	made.Samples[4].Failures.Failed["balance"] = 5
	var content bytes.Buffer
	if err := (&result.Result{Runs: []result.Run{made}}).WriteFailures(&content); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"variant,repetition,measured,beganMs,endedMs,kind,reason,transactions,perSecond",
		"a,2,false,500,1500,refused,full,10,10.000",
		"a,2,false,1500,2500,failed,nonce,3,3.000",
		"a,2,true,2500,4500,failed,balance,5,2.500",
		"a,2,true,2500,4500,refused,full,40,20.000",
		"a,2,false,6500,7500,failed,nonce,2,2.000",
		"a,2,false,6500,7500,refused,full,3,3.000",
		"",
	}, "\n")
	if got := content.String(); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
}

func complete() *result.Result {
	return &result.Result{
		SchemaVersion: result.SchemaVersion,
		Benchmark: v1alpha1.Benchmark{
			ObjectMeta: metav1.ObjectMeta{Name: "net"},
			Spec:       v1alpha1.BenchmarkSpec{DurationSeconds: 5, Repetitions: 1},
		},
		StartedAt: time.Unix(1, 0).UTC(),
		EndedAt:   time.Unix(2, 0).UTC(),
		Variants: []result.Variant{
			{Name: "a", Figures: []result.Figure{{Name: v1alpha1.FigureCPUCores, Unit: "cores", Value: 0.5}}}, {Name: "b"},
		},
		Runs:    []result.Run{run()},
		Verdict: result.Verdict{Outcome: result.Failed, Words: []string{"5 < 6"}},
	}
}

func TestCodec(t *testing.T) {
	t.Parallel()
	want := complete()
	content, err := result.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := result.Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("decodes\n%+v, want\n%+v", got, want)
	}
	// What is not known is absent.
	for _, absent := range []string{"cpuSeconds", "signed", "comparison", "loadAverage"} {
		if strings.Contains(string(content), absent) {
			t.Errorf("the document has %s, which is not known", absent)
		}
	}
	if candidate := got.Candidate(); candidate.Name != "b" || candidate.FigureOf(v1alpha1.FigureCPUCores) != nil {
		t.Errorf("the candidate is %+v", candidate)
	}
	if got.Variants[0].FigureOf(v1alpha1.FigureCPUCores) == nil {
		t.Errorf("a has no figure, and was %+v", got.Variants[0])
	}
	if runs := got.RunsOf("a"); len(runs) != 1 || len(got.RunsOf("b")) != 0 {
		t.Errorf("a has %d runs", len(runs))
	}
}

// What a newer program added to a document is passed over, at any depth.
func TestNewerDocuments(t *testing.T) {
	t.Parallel()
	want := complete()
	content, err := result.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	newer := string(content)
	for _, add := range []struct{ to, field string }{
		{`{"schemaVersion":1,`, `"weather":{"rain":true},`},
		{`{"name":"a",`, `"colour":"blue",`},
		{`{"height":0,`, `"moon":0.5,`},
		{`"spec":{`, `"borrowed":[1],`},
		{`{"timeMs":500,`, `"tides":null,`},
	} {
		if !strings.Contains(newer, add.to) {
			t.Fatalf("%s has no %s", newer, add.to)
		}
		newer = strings.ReplaceAll(newer, add.to, add.to+add.field)
	}
	got, err := result.Decode([]byte(newer))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("decodes\n%+v (%v), want\n%+v", got, err, want)
	}
}

func TestWrongDocuments(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{}`:                               "the result has schema version 0, and this program reads version 1",
		`{"schemaVersion":2}`:              "the result has schema version 2, and this program reads version 1: one that is newer reads it",
		`{"schemaVersion":1}`:              "result has no variants",
		`{"schemaVersion":1,"variants":7}`: "decode result",
		`{"schemaVersion":1,"variants":[{}]} and on`: "decode result",
		`[`: "decode result",
	} {
		if _, err := result.Decode([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", content, err, want)
		}
	}
}

// Blocks that no chain makes, or not in the time of the benchmark, are refused.
func TestBlocksOfNoChain(t *testing.T) {
	t.Parallel()
	const toThe25thHour = 25 * 3600 * 1000
	for name, test := range map[string]struct {
		edit func(*result.Result)
		want string
	}{
		"as they are":     {func(*result.Result) {}, ""},
		"no blocks":       {func(made *result.Result) { made.Runs[0].Blocks = nil }, ""},
		"a block":         {func(made *result.Result) { made.Runs[0].Blocks = made.Runs[0].Blocks[:1] }, ""},
		"a gap":           {func(made *result.Result) { made.Runs[0].Blocks[7].Height = 70 }, ""},
		"the same height": {func(made *result.Result) { made.Runs[0].Blocks[4].Height = 3 }, "block 3 at 4000 ms follows block 3 at 3000 ms"},
		"a lower height":  {func(made *result.Result) { made.Runs[0].Blocks[4].Height = 1 }, "block 1 at 4000 ms follows block 3 at 3000 ms"},
		"the same time":   {func(made *result.Result) { made.Runs[0].Blocks[4].TimestampMs = 3000 }, "block 4 at 3000 ms follows block 3"},
		"an earlier time": {func(made *result.Result) { made.Runs[0].Blocks[7].TimestampMs = -2000 }, "run 1 of the result: block 7 at -2000 ms"},
		"as long as may be": {func(made *result.Result) {
			made.Benchmark.Spec.DurationSeconds, made.Benchmark.Spec.WarmUpSeconds = 3000, ptr.To[int32](600)
			made.Runs[0].Blocks[7].TimestampMs = toThe25thHour
		}, ""},
		"longer than may be": {func(made *result.Result) {
			made.Benchmark.Spec.DurationSeconds, made.Benchmark.Spec.WarmUpSeconds = 3000, ptr.To[int32](599)
			made.Runs[0].Blocks[7].TimestampMs = toThe25thHour
		}, "its blocks span 90000000 ms, and a run of the benchmark takes 24h59m59s at most"},
		"steps": {func(made *result.Result) {
			made.Benchmark.Spec.Load.Ramp = &v1alpha1.RampLoad{Steps: []v1alpha1.RampStep{{DurationSeconds: 1800}, {DurationSeconds: 1800}}}
			made.Runs[0].Blocks[7].TimestampMs = toThe25thHour
		}, ""},
		"a controller": {func(made *result.Result) {
			made.Benchmark.Spec.Load.ClosedLoop = &v1alpha1.ClosedLoopLoad{MaxSettleSeconds: 3600}
			made.Runs[0].Blocks[7].TimestampMs = toThe25thHour
		}, ""},
		"a search": {func(made *result.Result) {
			made.Benchmark.Spec.Load.Search = &v1alpha1.SearchLoad{MaxSearchSeconds: 3600}
			made.Runs[0].Blocks[7].TimestampMs = toThe25thHour
		}, ""},
		"users": {func(made *result.Result) {
			made.Benchmark.Spec.DurationSeconds = 1800
			made.Benchmark.Spec.Load.OpenLoop = &v1alpha1.OpenLoopLoad{Steps: []v1alpha1.OpenLoopStep{{Users: 1}, {Users: 2}}}
			made.Runs[0].Blocks[7].TimestampMs = toThe25thHour
		}, ""},
		"an age": {func(made *result.Result) {
			made.Benchmark.Spec.DurationSeconds = math.MaxInt32
			made.Runs[0].Blocks[0].TimestampMs, made.Runs[0].Blocks[7].TimestampMs = math.MinInt64, math.MaxInt64
		}, "its blocks span 18446744073709551615 ms, and a run of the benchmark takes 192h0m0s at most"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := complete()
			test.edit(made)
			content, err := result.Encode(made)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := result.Decode(content); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}
