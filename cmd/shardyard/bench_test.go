// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/experiment"
)

const (
	near4       = "../../config/samples/benchmark/near-4-shards-local.yaml"
	beforeAfter = "../../config/samples/benchmark/before-after-local.yaml"
	onRunning   = "../../config/samples/benchmark/running-network.yaml"
	openLoop    = "../../config/samples/benchmark/cosmos-open-loop-local.yaml"
)

func TestBenchOptions(t *testing.T) {
	t.Parallel()
	shardnode, full := program(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		args []string
		want string
	}{
		"format":             {[]string{"-f", near4, "-o", "xml"}, `error: unknown output format "xml": want text or json`},
		"no time":            {[]string{"-f", near4, "--ready-timeout", "0s"}, "error: --ready-timeout must be positive, is 0s"},
		"too long a profile": {[]string{"-f", near4, "--profile-seconds", "61"}, "error: --profile-seconds must be 1 to 60, is 61"},
		"another profile": {
			[]string{"-f", near4, "--shardnode", shardnode, "--profile", "Heap"},
			`error: unknown kind of profile "Heap": want CPU, Allocations`,
		},
		"a profile of no variant": {
			[]string{"-f", beforeAfter, "--shardnode", shardnode, "--profile", "CPU", "--profile-variant", "next"},
			"error: --profile-variant next: the benchmark has no variant of that name",
		},
		"a profile of users who have gone": {
			[]string{"-f", openLoop, "--shardnode", shardnode, "--profile-seconds", "1"},
			"error: --profile-seconds: the users of a load of profile OpenLoop send nothing more once the measurement is complete; " +
				"without it, a profile is taken through the measurement",
		},
		"no benchmark": {
			[]string{"-f", quickstart}, `kind: Invalid value: "ShardNetwork": must be Benchmark`,
		},
		"no program": {
			[]string{"-f", near4, "--shardnode", "/no/such/program"},
			`error: find the node program: exec: "/no/such/program": stat /no/such/program: no such file or directory`,
		},
		"two programs": {
			[]string{"-f", near4, "--shardnode", shardnode, "--shardnode", "/another"},
			"error: --shardnode is given twice: " + shardnode + " and /another",
		},
		"two programs of a variant": {
			[]string{"-f", beforeAfter, "--shardnode", "after=" + shardnode, "--shardnode", "after=" + shardnode},
			"error: --shardnode is given twice for variant after",
		},
		"a program that nothing runs": {
			[]string{
				"-f", beforeAfter, "--shardnode", shardnode,
				"--shardnode", "before=" + shardnode, "--shardnode", "after=" + shardnode,
			},
			"error: --shardnode " + shardnode + " is for no variant: each has another one",
		},
		"no such variant": {
			[]string{"-f", beforeAfter, "--shardnode", shardnode, "--shardnode", "next=" + shardnode},
			"error: --shardnode next=" + shardnode + ": the benchmark has no variant of that name",
		},
		"two baselines": {
			[]string{"-f", beforeAfter, "--shardnode", shardnode, "--baseline", "none"},
			"error: --baseline: of two variants, the first is the baseline of the second",
		},
		"no such baseline": {
			[]string{"-f", near4, "--shardnode", shardnode, "--baseline", "/no/such/artifact"},
			"error: read the baseline: open /no/such/artifact: no such file or directory",
		},
		"a program of a network that runs": {
			[]string{"-f", onRunning, "--shardnode", shardnode},
			"error: --shardnode: the network quickstart, which the benchmark names, runs its programs already",
		},
		"a network that stays anyway": {
			[]string{"-f", onRunning, "--keep"}, "error: --keep: the network quickstart, which the benchmark names, stays anyway",
		},
		"a network that does not run": {
			[]string{"-f", onRunning, "--state-dir", full, "--artifact", filepath.Join(t.TempDir(), "artifact")},
			"error: the network of " + filepath.Join(full, "quickstart") + " does not run",
		},
		"a place for networks that are not there": {
			[]string{"-f", near4, "--shardnode", shardnode, "--state-dir", full},
			"error: --state-dir: the benchmark names no network: its runs make their own",
		},
		"an artifact that is there": {
			[]string{"-f", near4, "--shardnode", shardnode, "--artifact", full},
			"error: " + full + " is not empty: remove what an earlier run left there, or name another folder",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := shardyardFails(t, append([]string{"bench", "run"}, test.args...)...); len(got) != 1 || got[0] != test.want {
				t.Errorf("prints %q, want %q", got, test.want)
			}
		})
	}
}

// The command line that makes another result is for whoever is in the folder of this one.
func TestRepeat(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const run = "shardyard bench run -f benchmark.yaml "
	for name, test := range map[string]struct {
		given   benchFlags
		options experiment.Options
		want    string
	}{
		"folders": {
			benchFlags{baseline: "results/first", stateDir: "state"},
			experiment.Options{},
			run + "--state-dir " + filepath.Join(here, "state") + " --baseline " + filepath.Join(here, "results/first"),
		},
		"no baseline": {
			benchFlags{baseline: noBaseline},
			experiment.Options{Shardnode: "/bin/node"},
			run + "--shardnode /bin/node --baseline none",
		},
		"a bucket": {benchFlags{baseline: "gs://bucket/first"}, experiment.Options{}, run + "--baseline gs://bucket/first"},
		// What a profile costs is in the figures.
		"a profile": {
			benchFlags{profileVariant: "after"},
			experiment.Options{Profile: chain.ProfileCPU, ProfileVariant: "after"},
			run + "--profile CPU --profile-variant after",
		},
		"a profile afterwards": {
			benchFlags{profileSeconds: 9},
			experiment.Options{Profile: chain.ProfileCPU, ProfileSeconds: 9},
			run + "--profile CPU --profile-seconds 9",
		},
	} {
		if got, err := test.given.repeat(&test.options); err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("%s: the command line is %q (%v), want %q", name, got, err, test.want)
		}
	}
}

// A benchmark whose nodes do not start has no result, and no exit code of one. What its
// nodes logged is where its error says.
func TestBenchFails(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "artifact")
	lines := shardyardFails(t, "bench", "run", "-f", near4, "-o", "json", "--artifact", folder, "--shardnode", program(t))
	if got, want := lines[len(lines)-1], "error: run 1: validator near-4-shards-local-s"; !strings.HasPrefix(got, want) {
		t.Errorf("the last line is %q, want it to begin with %q", got, want)
	}
	_, log, _ := strings.Cut(lines[len(lines)-1], "; its log is ")
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v is left in the artifact: %v", entries, err)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[result.Outcome]int{result.Succeeded: 0, result.Failed: 3, result.Regressed: 4} {
		if got, _ := errors.AsType[exitError](exitOf(outcome)); got.code != want {
			t.Errorf("%s ends with %d, want %d", outcome, got.code, want)
		}
	}
}

// stored writes an artifact of three runs at a cost. The first runs have faults.
func stored(t *testing.T, name string, began int64, cost float64, faults ...string) string {
	t.Helper()
	made := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Benchmark:     v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: "net"}},
		StartedAt:     time.Unix(began, 0).UTC(),
		Variants:      []result.Variant{{}},
		Verdict:       result.Verdict{Outcome: result.Succeeded, Words: []string{"fine"}},
	}
	for repetition := range 3 {
		run := result.Run{Repetition: repetition + 1, Window: result.Window{BeginMs: 0, EndMs: 20_000}}
		if repetition < len(faults) {
			run.Fault = faults[repetition]
		}
		for second := range 21 {
			run.Blocks = append(run.Blocks, result.Block{Height: uint64(second), TimestampMs: int64(second) * 1000, Executed: 100, Shards: 2})
			run.Samples = append(run.Samples, result.Sample{TimeMs: int64(second) * 1000, CPUSeconds: ptr.To(float64(second) * cost)})
		}
		made.Runs = append(made.Runs, run)
	}
	made.Variants[0].Figures = figures.Of(made.RunsOf(""), 95, 1)
	folder := filepath.Join(t.TempDir(), name)
	if err := artifact.Make(folder); err != nil {
		t.Fatal(err)
	}
	if err := artifact.Write(folder, made); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestReportShow(t *testing.T) {
	t.Parallel()
	got := shardyard(t, "report", "show", stored(t, "monday", 1, 0.5))
	for _, want := range []string{"ExecutedPerSecond", "100.0 [100.0 to 100.0]", "Succeeded: fine\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("prints no %q:\n%s", want, got)
		}
	}
}

// Runs that do not count are left out of a comparison, which says so; with all of them
// there is none.
func TestReportCompareWithoutRunsThatDoNotCount(t *testing.T) {
	t.Parallel()
	monday, tuesday := stored(t, "monday", 1, 0.5, "the supply is not conserved"), stored(t, "tuesday", 2, 0.5)
	if got, want := shardyard(t, "report", "compare", monday, tuesday),
		"note: run 1 of monday does not count: the supply is not conserved\n"; !strings.Contains(got, want) {
		t.Errorf("prints\n%s\nwant %q", got, want)
	}
	broken := stored(t, "broken", 3, 0.5, "one", "another", "a third")
	for _, args := range [][]string{{broken, monday}, {monday, broken}} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"shardyard", "report", "compare"}, args...), &stdout, &stderr)
		const want = "error: no run of broken counts, and nothing can be compared with it: "
		if code != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("of %q it exits with %d and prints\n%s%s\nwant an error", args, code, &stdout, &stderr)
		}
	}
}

func TestReportCompare(t *testing.T) {
	t.Parallel()
	monday, tuesday := stored(t, "monday", 1, 0.5), stored(t, "tuesday", 2, 0.6)
	page := filepath.Join(t.TempDir(), "page.html")
	if got := shardyard(t, "report", "compare", tuesday, monday); !strings.Contains(got, "Better: CPUMicrosecondsPerTransfer") {
		t.Errorf("prints\n%s\nwant that the cost is better", got)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"shardyard", "report", "compare", "--html", page, monday, tuesday}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitRegressed {
		t.Errorf("exits with %d, want %d: %s", code, exitRegressed, &stderr)
	}
	want := "Worse: CPUMicrosecondsPerTransfer changed by +20.00% (95% interval +20.00% to +20.00%): all of that is worse by more than 1%"
	if !strings.Contains(stdout.String(), want) || stderr.Len() > 0 {
		t.Errorf("prints\n%s%s\nwant it to say\n%s", &stdout, &stderr, want)
	}
	content, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(content), "<title>monday and tuesday</title>") {
		t.Errorf("the page is not of both: %v", err)
	}
	if got := distinct([]string{"a/x", "b/x"}); got[0] != "a/x" || got[1] != "b/x" {
		t.Errorf("two artifacts of one name are called %q", got)
	}
}

func TestReportHistoryAndSite(t *testing.T) {
	t.Parallel()
	folder := filepath.Dir(stored(t, "monday", 1, 0.5))
	got := shardyard(t, "report", "history", folder)
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, filepath.Join(folder, "monday")) {
		t.Errorf("prints\n%s\nwant a heading and a line", got)
	}
	site := filepath.Join(t.TempDir(), "site")
	want := "results shown by " + filepath.Join(site, "index.html") + ": 1\n"
	if got := shardyard(t, "report", "site", folder, site); got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	if got := shardyardFails(t, "report", "history", t.TempDir()); !strings.HasPrefix(got[0], "error: there is no result.json below ") {
		t.Errorf("prints %q", got)
	}
}
