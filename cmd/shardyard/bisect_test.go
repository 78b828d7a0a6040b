// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/local/experiment"
	"github.com/shardyard/shardyard/internal/manifest"
)

// twoBuilds is a benchmark whose variants differ in nothing but their program.
func twoBuilds(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(beforeAfter)
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := strings.Cut(string(content), "\n  variants:")
	if !found {
		t.Fatalf("%s has no variants", beforeAfter)
	}
	text += "\n  variants:\n    - name: before\n    - name: after\n  baseline:\n    figures: [CPUMicrosecondsPerTransfer]\n" +
		"  upload:\n    url: s3://kept/nightly\n"
	path := filepath.Join(t.TempDir(), "two-builds.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// builds are programs, each of which costs what its file says.
func builds(t *testing.T, costs ...int) []string {
	t.Helper()
	folder := t.TempDir()
	var paths []string
	for i, cost := range costs {
		path := filepath.Join(folder, "build-"+strconv.Itoa(i))
		if err := os.WriteFile(path, []byte(strconv.Itoa(cost)), 0o700); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// unclear is what a build costs of which no figure tells anything.
const unclear = 1

// runCosts makes the result of a benchmark whose builds cost what they say; 0 fails,
// and less cannot be run.
func runCosts(_ context.Context, options experiment.Options) (*result.Result, error) {
	cost := func(variant string) (int, error) {
		content, err := os.ReadFile(options.Shardnodes[variant])
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(string(content))
	}
	if options.Benchmark.Spec.Upload != nil {
		return nil, errors.New("a result names a bucket")
	}
	before, err := cost("before")
	if err != nil {
		return nil, err
	}
	after, err := cost("after")
	if err != nil {
		return nil, err
	}
	made := &result.Result{
		SchemaVersion: result.SchemaVersion, Benchmark: *options.Benchmark, Repeat: options.Repeat,
		Variants: []result.Variant{{Name: "before"}, {Name: "after"}},
		Verdict:  result.Verdict{Outcome: result.Succeeded, Words: []string{"no worse"}},
	}
	change := result.Change{Figure: "CPUMicrosecondsPerTransfer", Outcome: result.ChangeNone}
	switch {
	case after == unclear || before == unclear:
		change.Outcome = result.ChangeUnclear
	case after < 0:
		return nil, errors.New("it does not start")
	case after == 0:
		made.Verdict = result.Verdict{Outcome: result.Failed, Words: []string{"a run does not count"}}
	case 100*after > 101*before:
		made.Verdict = result.Verdict{Outcome: result.Regressed, Words: []string{"it costs more"}}
		change.Outcome = result.ChangeWorse
	}
	made.Comparison = &result.Comparison{Baseline: "before", Candidate: "after", Changes: []result.Change{change}}
	return made, nil
}

// bisect bisects builds by what they cost, and says what was found and what is printed.
func bisect(t *testing.T, folder string, paths []string) (found bisected, progress string, err error) {
	t.Helper()
	given := bisectFlags{
		path: twoBuilds(t), good: paths[0], bad: paths[len(paths)-1], folder: folder, format: "json", readyTimeout: 1,
	}
	command := newBenchBisectCommand()
	var stdout, stderr bytes.Buffer
	command.SetOut(&stdout)
	command.SetErr(&stderr)
	command.SetContext(t.Context())
	err = given.bisect(command, paths[1:len(paths)-1], runCosts)
	if decoded := json.NewDecoder(&stdout).Decode(&found); decoded != nil && !errors.Is(decoded, io.EOF) {
		t.Error(decoded)
	}
	return found, stderr.String(), err
}

func TestBisect(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		costs []int
		// first is the build that is found; 0 for none.
		first int
		code  int
		words string
	}{
		"found":                 {[]int{1000, 1001, 1000, 1050, 1051}, 3, 0, "build 3 is the first that is worse: "},
		"nothing between":       {[]int{1000, 1050}, 1, 0, "build 1 is the first that is worse: "},
		"no regression":         {[]int{1000, 1050, 1000}, 0, exitFailed, "the last build is not Regressed against the first: "},
		"several small ones":    {[]int{1000, 1006, 1012}, 2, exitFailed, "the change came in several builds, up to "},
		"one that is not known": {[]int{1000, 0, 1050}, 0, exitFailed, "the comparison of build 1 with build 0 failed"},
		"one that is unclear": {
			[]int{1000, unclear, 1050}, 0, exitFailed, "the comparison of build 1 with build 0 is too uncertain in every figure",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paths, folder := builds(t, test.costs...), filepath.Join(t.TempDir(), "results")
			found, progress, err := bisect(t, folder, paths)
			code := 0
			if exit, ok := errors.AsType[exitError](err); ok {
				code = exit.code
			} else if err != nil {
				t.Fatal(err)
			}
			first := ""
			if test.first > 0 {
				first = paths[test.first]
			}
			if found.First != first || code != test.code || !strings.Contains(progress, test.words) {
				t.Errorf("%+v is found, with the exit code %d, want %q, %d and %q:\n%s", found, code, first, test.code, test.words, progress)
			}
			for _, comparison := range found.Comparisons {
				made, err := artifact.Read(t.Context(), comparison.Artifact)
				if err != nil || made.Verdict.Outcome != comparison.Outcome || filepath.Dir(comparison.Artifact) != folder ||
					made.Repeat[len(made.Repeat)-1] != "after="+comparison.Candidate {
					t.Errorf("the result of %+v is %+v: %v", comparison, made, err)
				}
			}
			if len(found.Comparisons) == 0 {
				t.Error("no result is kept")
			}
		})
	}
}

// What cannot be run has no answer, and the results of before are kept.
func TestBisectThatCannotBeRun(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "results")
	_, _, err := bisect(t, folder, builds(t, 1000, -1, 1050))
	if err == nil || err.Error() != "compare build 1 with build 0: it does not start" {
		t.Errorf("the error is %v", err)
	}
	if _, err := artifact.Read(t.Context(), filepath.Join(folder, "1-build-2-with-0")); err != nil {
		t.Error(err)
	}
}

func TestBisectOptions(t *testing.T) {
	t.Parallel()
	shardnode := program(t)
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no good one": {[]string{"-f", near4, "--bad", shardnode}, `error: required flag(s) "good" not set`},
		"no variants": {
			[]string{"-f", near4}, "error: the benchmark has no variants: two builds are compared as its two variants",
		},
		"two features": {
			[]string{"-f", beforeAfter},
			"error: spec.variants: they differ in more than their program, and what is found would be of both",
		},
		"no such build": {
			[]string{"-f", twoBuilds(t), "/no/such"},
			`error: find the node program: exec: "/no/such": stat /no/such: no such file or directory`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"bench", "bisect"}, test.args...)
			if name != "no good one" {
				args = append(args, "--good", shardnode, "--bad", shardnode)
			}
			if got := shardyardFails(t, args...); got[0] != test.want {
				t.Errorf("prints %q, want %q", got, test.want)
			}
		})
	}
	// The benchmark that is bisected with is one.
	if _, err := manifest.ReadBenchmark(twoBuilds(t)); err != nil {
		t.Error(err)
	}
}
