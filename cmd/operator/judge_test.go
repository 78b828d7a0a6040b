// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/summary"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/recording"
)

// benchmarkFile is a benchmark with two variants, and the file that a pod reads it
// from.
func benchmarkFile(t *testing.T) (*v1alpha1.Benchmark, string) {
	t.Helper()
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/before-after-local.yaml")
	if err != nil {
		t.Fatal(err)
	}
	benchmark.UID = "this-one"
	benchmark.Spec.Upload = &v1alpha1.BenchmarkUpload{URL: "s3://kept"}
	content, err := json.Marshal(benchmark)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "benchmark.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return benchmark, path
}

// recorded is a run whose chain executes 1,000 transfers a second, at a cost.
func recorded(run bench.PlannedRun, cost float64) *result.Run {
	made := &result.Run{
		Variant: run.VariantName, Repetition: run.Repetition, Window: result.Window{BeginMs: 0, EndMs: 20_000},
		Nodes: []result.Node{{Version: "0.1.0"}},
	}
	for second := range 21 {
		at := int64(second) * 1000
		made.Blocks = append(made.Blocks, result.Block{Height: uint64(second), TimestampMs: at, Executed: 1000, Shards: 2})
		made.Samples = append(made.Samples, result.Sample{TimeMs: at, CPUSeconds: ptr.To(float64(second) * cost)})
	}
	return made
}

// judgeRuns runs the command of the judge.
func judgeRuns(t *testing.T, arguments ...string) error {
	t.Helper()
	command := newCommand()
	command.SetArgs(append([]string{"judge-runs"}, arguments...))
	return command.ExecuteContext(t.Context())
}

func TestJudgeRuns(t *testing.T) {
	t.Parallel()
	benchmark, path := benchmarkFile(t)
	folder := t.TempDir()
	said, into := filepath.Join(folder, "said"), filepath.Join(folder, "artifact")
	arguments := []string{"--image", "operator:test", "--benchmark", path, "--records", folder, "--summary", said, "--artifact", into}
	runs := bench.Runs(&benchmark.Spec)
	for i, run := range runs {
		if i == len(runs)-1 {
			if err := judgeRuns(t, arguments...); err == nil || !strings.Contains(err.Error(), "read record of "+run.String()) {
				t.Errorf("without a record of %s, the error is %v", run, err)
			}
		}
		cost := 0.5
		if run.VariantName == "after" {
			cost = 0.6
		}
		image := recording.NodeImage{Name: "shardnode:test", ID: "sha256:test"}
		if err := recording.Write(folder, benchmark.UID, image, recorded(run, cost)); err != nil {
			t.Fatal(err)
		}
	}
	// Whoever does it again makes the same, and leaves nothing of one that was ended meanwhile.
	left := filepath.Join(into, ".result.json.1")
	for range 2 {
		if err := judgeRuns(t, arguments...); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a part of a result is left: %v", err)
		}
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	checkSummary(t, said)
	checkArtifact(t, into, len(runs))
}

func checkSummary(t *testing.T, said string) {
	t.Helper()
	message, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	got, err := summary.Decode[summary.Result](string(message))
	if err != nil {
		t.Fatal(err)
	}
	tps := slices.IndexFunc(got.Figures, func(figure summary.Figure) bool { return figure.Name == v1alpha1.FigureExecutedPerSecond })
	if got.Outcome != result.Regressed || tps < 0 || got.Figures[tps].Value != 1000 ||
		!strings.Contains(got.Words[0], "CPUMicrosecondsPerTransfer changed by +20.00%") {
		t.Errorf("the summary is %s", message)
	}
}

func checkArtifact(t *testing.T, into string, runs int) {
	t.Helper()
	made, err := artifact.Read(t.Context(), into)
	if err != nil {
		t.Fatal(err)
	}
	if made.Shardyard.Image != "operator:test" || made.Shardyard.Version == "" {
		t.Errorf("the result was made by %+v", made.Shardyard)
	}
	if len(made.Runs) != runs || made.Runs[1].Variant != "after" || made.Candidate().Shardnode.Image != "shardnode:test" ||
		made.Candidate().Shardnode.ImageID != "sha256:test" {
		t.Errorf("the result has the runs %d and the variants %+v", len(made.Runs), made.Variants)
	}
	again, err := manifest.ReadBenchmark(filepath.Join(into, artifact.BenchmarkFile))
	if err != nil || again.UID != "" || again.Spec.Upload != nil || again.Name != made.Benchmark.Name {
		t.Errorf("what makes another result is %+v: %v", again, err)
	}
}

// Runs of different nodes are no runs of one benchmark.
func TestJudgeOtherImages(t *testing.T) {
	t.Parallel()
	benchmark, _ := benchmarkFile(t)
	folder := t.TempDir()
	for i, run := range bench.Runs(&benchmark.Spec) {
		image := recording.NodeImage{Name: fmt.Sprintf("shardnode:%d", i/3)}
		if err := recording.Write(folder, benchmark.UID, image, recorded(run, 0.5)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := judge(t.Context(), benchmark, folder, "", baseline{})
	if want := "the nodes of run 2 of before were made of shardnode:1, and those before of shardnode:0"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

// Variants of two images have two, each the same in all of its runs.
func TestJudgeTwoImages(t *testing.T) {
	t.Parallel()
	benchmark, _ := benchmarkFile(t)
	benchmark.Spec.Variants[0].Image, benchmark.Spec.Variants[1].Image = "shardnode:1", "shardnode:2"
	write := func(folder string, id func(bench.PlannedRun) string) {
		for _, run := range bench.Runs(&benchmark.Spec) {
			image := recording.NodeImage{Name: benchmark.Spec.Variants[run.Variant].Image, ID: id(run)}
			if err := recording.Write(folder, benchmark.UID, image, recorded(run, 0.5)); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder := t.TempDir()
	write(folder, func(run bench.PlannedRun) string { return "sha256:" + run.VariantName })
	made, err := judge(t.Context(), benchmark, folder, "", baseline{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"shardnode:1 sha256:before", "shardnode:2 sha256:after"} {
		if program := made.Variants[i].Shardnode; program.Image+" "+program.ImageID != want {
			t.Errorf("variant %d is of %+v, want %s", i, program, want)
		}
	}

	// A name that comes to mean another image in the middle compares nothing.
	folder = t.TempDir()
	write(folder, func(run bench.PlannedRun) string { return fmt.Sprint("sha256:", run.Repetition/3) })
	_, err = judge(t.Context(), benchmark, folder, "", baseline{})
	if want := "were made of shardnode:1 (sha256:1), and those before of shardnode:1 (sha256:0)"; err == nil ||
		!strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), strings.ReplaceAll(want, "shardnode:1", "shardnode:2")) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

// Without variants, the runs are compared with an earlier result.
func TestJudgeWithABaseline(t *testing.T) {
	t.Parallel()
	benchmark, _ := benchmarkFile(t)
	benchmark.Spec.Variants = nil
	results := map[float64]string{}
	for _, cost := range []float64{0.5, 0.6} {
		folder := t.TempDir()
		for _, run := range bench.Runs(&benchmark.Spec) {
			if err := recording.Write(folder, benchmark.UID, recording.NodeImage{}, recorded(run, cost)); err != nil {
				t.Fatal(err)
			}
		}
		results[cost] = folder
	}
	earlier, err := judge(t.Context(), benchmark, results[0.5], "", baseline{})
	if err != nil || earlier.Comparison != nil {
		t.Fatalf("the first result is compared: %+v: %v", earlier, err)
	}
	into := t.TempDir()
	if err := artifact.Write(into, earlier); err != nil {
		t.Fatal(err)
	}
	made, err := judge(t.Context(), benchmark, results[0.6], "", baseline{folder: into, name: "last-records"})
	if err != nil || made.Verdict.Outcome != result.Regressed || made.Comparison.Baseline != "last-records" {
		t.Errorf("the verdict is %+v: %v", made, err)
	}
	_, err = judge(t.Context(), benchmark, results[0.6], "", baseline{folder: t.TempDir(), name: "last-records"})
	if err == nil || !strings.Contains(err.Error(), "read the baseline last-records: ") {
		t.Errorf("without that result, the error is %v", err)
	}
}
