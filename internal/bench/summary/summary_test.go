// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/summary"
)

// Whatever a benchmark comes to, its summary fits.
func TestTheLongestSummaryFits(t *testing.T) {
	t.Parallel()
	made := &result.Result{Variants: []result.Variant{{}}}
	for range 60 {
		made.Verdict.Words = append(made.Verdict.Words, strings.Repeat("ö", 500))
	}
	for range 20 {
		made.Variants[0].Figures = append(made.Variants[0].Figures, result.Figure{
			Name: v1alpha1.FigureExecutedPerSecondSpreadPercent, Value: -math.Pi * 1e-9,
		})
	}
	message, err := summary.Encode(summary.OfResult(made))
	if err != nil {
		t.Fatal(err)
	}
	read, err := summary.Decode[summary.Result](message)
	if err != nil {
		t.Fatal(err)
	}
	if last := read.Words[len(read.Words)-1]; !strings.Contains(last, "more: see the result") {
		t.Errorf("the last word is %q, want one that says that there are more", last)
	}
	if _, err := summary.Encode(summary.OfRun(&result.Run{Fault: strings.Repeat("f", 1e6)})); err != nil {
		t.Error(err)
	}
}

func TestARunArrivesAsItWasSent(t *testing.T) {
	t.Parallel()
	run := &result.Run{Fault: "it broke", Window: result.Window{BeginMs: 0, EndMs: 2000}}
	for second := range 4 {
		run.Blocks = append(run.Blocks, result.Block{Height: uint64(second), TimestampMs: int64(second) * 1000, Executed: 7, Shards: 1})
	}
	message, err := summary.Encode(summary.OfRun(run))
	if err != nil {
		t.Fatal(err)
	}
	read, err := summary.Decode[summary.Run](message)
	if err != nil {
		t.Fatal(err)
	}
	rate := 7.0
	want := &summary.Run{Fault: run.Fault, Window: run.Window, ExecutedPerSecond: &rate}
	if !reflect.DeepEqual(read, want) {
		t.Errorf("%s comes to %+v, want %+v", message, read, want)
	}
	for _, wrong := range []string{"", "error: it broke", `{"outcome":"Succeeded"}`} {
		if read, err := summary.Decode[summary.Run](wrong); err == nil {
			t.Errorf("%q is read as %+v", wrong, read)
		}
	}
}
