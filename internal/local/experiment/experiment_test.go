// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/supervision"
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

// fixedCount is a benchmark whose load has an end.
func fixedCount(t *testing.T) *v1alpha1.Benchmark {
	t.Helper()
	made := benchmark(t, "near-4-shards-local")
	made.Spec.Load = v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileFixedCount, FixedCount: &v1alpha1.FixedCountLoad{Transfers: 1000}, Signing: v1alpha1.SigningBefore,
	}
	return made
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
	if got, want := *before.network.Spec.Node.Features.SignatureBatchSize, int32(1); got != want {
		t.Errorf("the first variant has a batch size of %d, want %d, which is its own", got, want)
	}
	if got, want := *after.network.Spec.Node.Features.SignatureBatchSize, int32(0); got != want {
		t.Errorf("the second variant has a batch size of %d, want %d, which is the network's", got, want)
	}

	alone := Options{Benchmark: benchmark(t, "near-4-shards-local"), Shardnode: "/bin/node"}
	if variants := alone.variants(); len(variants) != 1 || variants[0].name != "" || variants[0].shardnode != "/bin/node" {
		t.Errorf("the variants are %+v, want one without a name", variants)
	}
}

// What nodes logged stays of a run that failed: its error names the log.
func TestLogsOfARunThatFailed(t *testing.T) {
	t.Parallel()
	options := Options{
		Benchmark: benchmark(t, "near-4-shards-constant-local"), Shardnode: "/bin/false", Folder: filepath.Join(t.TempDir(), "networks"),
		ReadyTimeout: time.Minute, Progress: io.Discard,
	}
	variants := options.variants()
	_, err := options.record(t.Context(), bench.PlannedRun{Repetition: 1}, &variants[0], nil, io.Discard)
	failed, ok := errors.AsType[*supervision.ValidatorError](err)
	if !ok {
		t.Fatalf("the error is %v", err)
	}
	if _, err := os.Stat(failed.Log); err != nil {
		t.Errorf("the log that it names: %v", err)
	}
	for _, gone := range []string{"data", "validator.key", "admin.token"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(failed.Log), gone)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", gone, err)
		}
	}
}

// Of a run that failed before a node was started, nothing stays, and no log is named.
func TestARunThatNeverStarted(t *testing.T) {
	t.Parallel()
	options := Options{
		Benchmark: benchmark(t, "near-4-shards-constant-local"), Shardnode: "/bin/false", Folder: filepath.Join(t.TempDir(), "networks"),
		Progress: io.Discard,
	}
	variants := options.variants()
	variants[0].network.Spec.Shards = 0
	var progress strings.Builder
	if _, err := options.record(t.Context(), bench.PlannedRun{Repetition: 1}, &variants[0], nil, &progress); err == nil {
		t.Error("a network without shards was recorded")
	}
	if _, err := os.Stat(options.Folder); !errors.Is(err, os.ErrNotExist) || progress.Len() > 0 {
		t.Errorf("the folder: %v; the run said %q", err, &progress)
	}
}

// The network of another benchmark that was given the same folder is left alone.
func TestAFolderOfAnotherRun(t *testing.T) {
	t.Parallel()
	options := Options{Benchmark: benchmark(t, "near-4-shards-constant-local"), Folder: t.TempDir(), Progress: io.Discard}
	variants, run := options.variants(), bench.PlannedRun{Repetition: 1}
	network := filepath.Join(options.Folder, run.Key(), "network")
	if err := os.MkdirAll(network, folderMode); err != nil {
		t.Fatal(err)
	}
	if _, err := options.record(t.Context(), run, &variants[0], nil, io.Discard); !errors.Is(err, os.ErrExist) {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(network); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	compared := func() *v1alpha1.Benchmark {
		alone := benchmark(t, "near-4-shards-local")
		alone.Spec.Baseline = &v1alpha1.BenchmarkBaseline{Figures: []v1alpha1.BenchmarkFigure{v1alpha1.FigureExecutedPerSecond}}
		return alone
	}
	earlier := func(faults ...string) *result.Result {
		made := &result.Result{Variants: []result.Variant{{}}}
		for i, fault := range faults {
			made.Runs = append(made.Runs, result.Run{Repetition: i + 1, Fault: fault})
		}
		return made
	}
	imaged := func() *v1alpha1.Benchmark {
		two := benchmark(t, "before-after-local")
		two.Spec.Variants[0].Image, two.Spec.Variants[1].Image = "shardnode:1", "shardnode:2"
		return two
	}
	endless := benchmark(t, "near-4-shards-local")
	endless.Spec.Load = v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: ptr.To[int64](120_000)},
		Signing: v1alpha1.SigningBefore,
	}
	endless.Spec.WarmUpSeconds, endless.Spec.DurationSeconds = ptr.To[int32](0), 60_000
	cases := map[string]struct {
		options Options
		want    string
	}{
		"more than producers sign before": {
			options: Options{Benchmark: endless},
			want: "spec.load: the network of the benchmark cannot carry it: a producer has to sign 990000000 transfers before the load, " +
				"for its warm-up and measurement as well, and signs 100000000 at most",
		},
		"two variants":             {options: Options{Benchmark: benchmark(t, "before-after-local")}},
		"nothing to compare":       {options: Options{Benchmark: benchmark(t, "near-4-shards-local")}},
		"compared with an earlier": {options: Options{Benchmark: compared(), Baseline: earlier("", "the supply is not conserved")}},
		"compared with runs that do not count": {
			options: Options{Benchmark: compared(), Baseline: earlier("the supply is not conserved"), BaselineName: "monday"},
			want: "--baseline: no run of monday counts, and nothing can be compared with it: " +
				"run 1 of monday does not count: the supply is not conserved",
		},
		"compared with none": {options: Options{Benchmark: compared(), Without: true}},
		"no such variant": {
			options: Options{Benchmark: benchmark(t, "before-after-local"), Shardnodes: map[string]string{"afte": "/bin/next"}},
			want:    "--shardnode afte=/bin/next: the benchmark has no variant of that name",
		},
		"an image": {
			options: Options{Benchmark: imaged(), Shardnodes: map[string]string{"before": "/bin/node"}},
			want: "spec.variants[1].image: this machine runs programs and no images: " +
				"name that of variant after with --shardnode after=PATH",
		},
		"a program in the place of each image": {
			options: Options{Benchmark: imaged(), Shardnodes: map[string]string{"before": "/bin/node", "after": "/bin/next"}},
		},
		"two baselines": {
			options: Options{Benchmark: benchmark(t, "before-after-local"), Baseline: &result.Result{}},
			want:    "--baseline: of two variants, the first is the baseline of the second",
		},
		"nobody says how": {
			options: Options{Benchmark: benchmark(t, "near-4-shards-local"), Baseline: &result.Result{}},
			want:    "--baseline: the benchmark does not say how to compare: it has no spec.baseline",
		},
		"a profile": {options: Options{Benchmark: benchmark(t, "near-4-shards-local"), Profile: chain.ProfileCPU, ProfileSeconds: 10}},
		"a profile of users who have gone": {
			options: Options{Benchmark: benchmark(t, "cosmos-open-loop-local"), Profile: chain.ProfileCPU, ProfileSeconds: 10},
			want: "--profile-seconds: the users of a load of profile OpenLoop send nothing more " +
				"once the measurement is complete; without it, a profile is taken through the measurement",
		},
		"a profile while users send": {
			options: Options{Benchmark: benchmark(t, "cosmos-open-loop-local"), Profile: chain.ProfileAllocations},
		},
		"a profile of one variant": {
			options: Options{Benchmark: benchmark(t, "before-after-local"), Profile: chain.ProfileCPU, ProfileVariant: "after"},
		},
		"a profile of a variant that is not there": {
			options: Options{Benchmark: benchmark(t, "before-after-local"), Profile: chain.ProfileCPU, ProfileVariant: "afte"},
			want:    "--profile-variant afte: the benchmark has no variant of that name",
		},
		"a variant without a profile": {
			options: Options{Benchmark: benchmark(t, "before-after-local"), ProfileVariant: "after"},
			want:    "--profile-variant after: no profile is wanted: --profile says of what kind",
		},
		"a profile of a fixed count": {
			options: Options{Benchmark: fixedCount(t), Profile: chain.ProfileCPU},
			want: "--profile: of a load of profile FixedCount it is not known how long it will be measured, " +
				"and nothing is left of it afterwards",
		},
		"a profile of a network that runs": {
			options: Options{Benchmark: benchmark(t, "running-network"), Profile: chain.ProfileCPU, ProfileSeconds: 10},
			want: "--profile: the network quickstart, which the benchmark names, runs by itself: " +
				"shardyard profile takes profiles of it",
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

// Runs of other variants are as they are without any profile.
func TestProfileOfAVariant(t *testing.T) {
	t.Parallel()
	options := Options{
		Benchmark: benchmark(t, "before-after-local"), Profile: chain.ProfileAllocations, ProfileVariant: "after", Profiles: "/results/profiles",
	}
	taken := 0
	for _, run := range bench.Runs(&options.Benchmark.Spec) {
		profile := options.profileOf(run)
		if (profile.Kind == chain.ProfileAllocations) != (run.VariantName == "after") {
			t.Errorf("%s has the profile %+v", run, profile)
		}
		if profile.Kind != "" {
			taken++
		}
	}
	if taken == 0 {
		t.Error("no run has a profile")
	}
	options.ProfileVariant = ""
	for _, run := range bench.Runs(&options.Benchmark.Spec) {
		if profile := options.profileOf(run); profile.Kind == "" || profile.Name != run.Key() || profile.Folder != "/results/profiles" {
			t.Errorf("%s has the profile %+v", run, profile)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
