// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/test/waiting"
)

// shardyard runs a command line to its end, and returns what it writes to
// standard output and its exit code.
func shardyard(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	return shardyardWithin(t, waiting.Patience, args...)
}

// shardyardWithin is shardyard, for command lines that take longer.
func shardyardWithin(t *testing.T, limit time.Duration, args ...string) (stdout string, code int) {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, programs.shardyard, args...)
	var out, progress bytes.Buffer
	command.Stdout, command.Stderr = &out, &progress
	// Killed, it could not say what it waited for.
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	err = command.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v said\n%s%s", args, &progress, &out)
		}
	})
	return out.String(), command.ProcessState.ExitCode()
}

// A build is not worse than itself, and what says so opens in a browser.
func TestBenchRun(t *testing.T) {
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "itself")
	stdout, code := shardyard(t, "bench", "run", "-f", "testdata/benchmark.yaml", "-o", "json",
		"--artifact", folder, "--commit", "abc", "--profile-seconds", "2",
		"--shardnode", programs.shardnode, "--shardnode", "after="+programs.shardnode)
	var said struct {
		Artifact string         `json:"artifact"`
		Verdict  result.Verdict `json:"verdict"`
	}
	if err := json.Unmarshal([]byte(stdout), &said); err != nil {
		t.Fatalf("standard output is no verdict: %v\n%s", err, stdout)
	}
	if code != 0 || said.Verdict.Outcome != result.Succeeded || said.Artifact != folder {
		t.Fatalf("exits with %d and says %+v, want %s", code, said, result.Succeeded)
	}
	made, err := artifact.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	checkOrigin(t, made)
	checkFigures(t, made)
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 6 {
		t.Errorf("the artifact holds %v, want 5 files, profiles and no network: %v", entries, err)
	}
	for i, run := range []string{"before-1", "after-1"} {
		file := "profiles/" + run
		checkProfile(t, folder, &made.Runs[i], result.Profile{
			Kind: "CPU", Taken: result.ProfileAfter, Files: []string{file + ".pb.gz", file + ".html"},
		}, 2*time.Second, "itself-s0-p0", "itself-s1-p0")
	}
	checkTable(t, folder, made)
	for _, scheme := range []string{"light", "dark"} {
		checkReport(t, filepath.Join(folder, artifact.ReportFile), scheme)
	}
	if stdout, code := shardyard(t, "report", "show", folder); code != 0 || !strings.Contains(stdout, "Succeeded: ") {
		t.Errorf("report show exits with %d and prints\n%s", code, stdout)
	}
}

// checkProfile checks that validators took a profile of a run, each as long as it should
// be, and that the result says so.
func checkProfile(t *testing.T, folder string, run *result.Run, want result.Profile, long time.Duration, validators ...string) {
	t.Helper()
	if run.Profile == nil || !reflect.DeepEqual(*run.Profile, want) {
		t.Fatalf("the profile of the run is %+v, want %+v", run.Profile, want)
	}
	for _, file := range want.Files {
		if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
			t.Error(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(folder, want.Files[0]))
	if err != nil {
		t.Fatal(err)
	}
	taken, err := profile.Parse(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for _, validator := range validators {
		if !slices.Contains(taken.Comments, "node: "+validator) {
			t.Errorf("%s is of %q, want %s as well", want.Files[0], taken.Comments, validator)
		}
	}
	if len(taken.Sample) == 0 {
		t.Errorf("%s has no sample of validators that carry a load", want.Files[0])
	}
	// Merged, it is as long as those of all together.
	length := time.Duration(taken.DurationNanos) / time.Duration(len(validators))
	if length < long-time.Second || length > 2*long {
		t.Errorf("%s is of %s, want %s", want.Files[0], length, long)
	}
}

// checkOrigin checks that the result says where and with what it was made.
func checkOrigin(t *testing.T, made *result.Result) {
	t.Helper()
	if made.Commit != "abc" || made.Environment.CPUs < 1 || made.Shardyard.SHA256 == "" || len(made.Runs) != 2 {
		t.Errorf("the result is of %q, %+v, %+v, with %d runs", made.Commit, made.Environment, made.Shardyard, len(made.Runs))
	}
	if len(made.Variants) != 2 || made.Variants[0].Shardnode.SHA256 != made.Variants[1].Shardnode.SHA256 ||
		made.Variants[0].Shardnode.Version == "" {
		t.Fatalf("the variants are %+v, want one program twice", made.Variants)
	}
}

// checkFigures checks that everything is known that this machine tells.
func checkFigures(t *testing.T, made *result.Result) {
	t.Helper()
	for _, name := range []v1alpha1.BenchmarkFigure{
		v1alpha1.FigureOfferedPerSecond, v1alpha1.FigureAcceptedPerSecond, v1alpha1.FigureIncludedPerSecond,
		v1alpha1.FigureExecutedPerSecond, v1alpha1.FigureFailedPerSecond, v1alpha1.FigureBlockTimeP99Milliseconds,
		v1alpha1.FigureMissedChunksPercent, v1alpha1.FigureCPUMicrosecondsPerTransfer, v1alpha1.FigureMemoryMebibytes,
		v1alpha1.FigureHostStolenPercent, v1alpha1.FigureHostWorkMicroseconds,
	} {
		if made.Candidate().FigureOf(name) == nil {
			t.Errorf("%s is not known", name)
		}
	}
	// The network has producers alone.
	if figure := made.Candidate().FigureOf(v1alpha1.FigureChunkValidatorCPUMicrosecondsPerTransfer); figure != nil {
		t.Errorf("there are no chunk validators, and they use %f µs per transfer", figure.Value)
	}
	for i := range made.Runs {
		if nodes := made.Runs[i].Nodes; len(nodes) != 2 || nodes[0].CPUSeconds == nil || *nodes[0].CPUSeconds <= 0 {
			t.Errorf("the nodes of run %d are %+v", i, nodes)
		}
	}
	// Nothing is executed that was not offered, but for what the warm-up left.
	executed := made.Candidate().FigureOf(v1alpha1.FigureExecutedPerSecond)
	if executed != nil && (executed.Value <= 0 || executed.Value > 400) {
		t.Errorf("%f transfers per second are executed of 200 that are offered", executed.Value)
	}
}

// checkTable checks that the table has a row for each block.
func checkTable(t *testing.T, folder string, made *result.Result) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, artifact.BlocksFile))
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	for i := range made.Runs {
		want += len(made.Runs[i].Blocks)
	}
	if got := strings.Count(string(content), "\n"); got != want {
		t.Errorf("the table of blocks has %d rows, want a heading and %d blocks", got, want-1)
	}
}

// checkReport checks that a browser without a network shows every chart.
func checkReport(t *testing.T, path, scheme string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waiting.Patience)
	defer cancel()
	command := exec.CommandContext(ctx, "node", "../../dashboards/page/picture.mjs", "file://"+path,
		filepath.Join(t.TempDir(), "report.png"), scheme)
	// Killed, it would leave its browser behind.
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("the report in %s colours: %v\n%s", scheme, err, output)
	}
}
