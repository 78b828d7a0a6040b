// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/bisection"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/local/experiment"
	"github.com/shardyard/shardyard/internal/manifest"
)

const benchBisectLong = `Find the first of several builds of the node that is Regressed, by the benchmark of a
file, which has two variants that differ in nothing but their program.

The builds between the good and the bad one are given in order, the oldest first. The
bad one is compared with the good one, then half of what is left is ruled out by each
comparison with the good one, and the build that is found is compared with the one
before it. The result of each comparison is kept, in a folder of its own.

The exit code is 0 when a build is named that is worse than the one before it. It is 3
when there is none: the bad build is not Regressed, the change came in several builds,
or a comparison is Failed, or too uncertain in all figures to tell anything. 1 says that
a benchmark could not be run to its end.`

// bisectFlags are the flags of bench bisect.
type bisectFlags struct {
	path, good, bad, folder, format string
	readyTimeout                    time.Duration
}

func newBenchBisectCommand() *cobra.Command {
	var given bisectFlags
	command := &cobra.Command{
		Use:   "bisect -f FILE --good PATH --bad PATH [BUILD]...",
		Short: "Find the build of the node that made a benchmark worse",
		Long:  benchBisectLong,
		Args:  cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			return given.bisect(command, args, experiment.Run)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&given.path, "filename", "f", "", "file that holds one Benchmark with two variants, in YAML or JSON")
	flags.StringVar(&given.good, "good", "", "a node program that is not worse, older than all others")
	flags.StringVar(&given.bad, "bad", "", "a node program that is worse, newer than all others")
	for _, name := range []string{"filename", "good", "bad"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	flags.StringVar(&given.folder, "artifacts", "", "folder to keep all results in, new or empty (default results/NAME/TIME)")
	flags.StringVarP(&given.format, "output", "o", "text",
		"output format: text, or json for progress on standard error and what was found, a line, on standard output")
	flags.DurationVar(&given.readyTimeout, "ready-timeout", 2*time.Minute, "how long the validators of a run may take to become ready")
	return command
}

// runBenchmark runs a benchmark to its end.
type runBenchmark func(context.Context, experiment.Options) (*result.Result, error)

// bisecting is one search.
type bisecting struct {
	benchmark *v1alpha1.Benchmark
	// builds are the node programs, from the good one to the bad one.
	builds       []string
	folder       string
	readyTimeout time.Duration
	progress     io.Writer
	run          runBenchmark
	told         bisected
}

// bisected is what a search came to.
type bisected struct {
	// First is the first build that is worse than the good one; empty for none.
	First string `json:"first,omitempty"`
	// Alone says that it is also worse than the one before it.
	Alone       bool         `json:"alone"`
	Comparisons []comparison `json:"comparisons"`
}

// comparison is one result of a search.
type comparison struct {
	Baseline  string         `json:"baseline"`
	Candidate string         `json:"candidate"`
	Artifact  string         `json:"artifact"`
	Outcome   result.Outcome `json:"outcome"`
	Words     []string       `json:"words"`
}

func (f *bisectFlags) bisect(command *cobra.Command, between []string, run runBenchmark) error {
	if f.format != "text" && f.format != "json" {
		return fmt.Errorf("unknown output format %q: want text or json", f.format)
	}
	if f.readyTimeout <= 0 {
		return fmt.Errorf("--ready-timeout must be positive, is %s", f.readyTimeout)
	}
	benchmark, err := manifest.ReadBenchmark(f.path)
	if err != nil {
		return err
	}
	if err := checkBisected(benchmark); err != nil {
		return err
	}
	// Nothing is uploaded, and no result names a bucket.
	benchmark.Spec.Upload = nil
	search := &bisecting{benchmark: benchmark, readyTimeout: f.readyTimeout, progress: command.OutOrStdout(), run: run}
	if f.format == "json" {
		search.progress = command.ErrOrStderr()
	}
	for _, path := range slices.Concat([]string{f.good}, between, []string{f.bad}) {
		found, err := local.FindShardnode(path)
		if err != nil {
			return err
		}
		search.builds = append(search.builds, found)
	}
	if search.folder, err = resultFolder(f.folder, benchmark); err != nil {
		return err
	}
	if err := artifact.Make(search.folder); err != nil {
		return err
	}
	ctx, stop := untilHangup(command.Context())
	defer stop()
	found, err := bisection.Find(len(search.builds), func(baseline, candidate int) (*result.Result, error) {
		return search.compare(ctx, baseline, candidate)
	})
	return f.conclude(command, search, found, err)
}

// checkBisected says whether the variants of a benchmark are two builds of one node.
func checkBisected(benchmark *v1alpha1.Benchmark) error {
	spec := benchmark.Spec.DeepCopy()
	if len(spec.Variants) == 0 {
		return errors.New("the benchmark has no variants: two builds are compared as its two variants")
	}
	for i := range spec.Variants {
		spec.Variants[i].Image = ""
	}
	if !equality.Semantic.DeepEqual(bench.NetworkSpec(spec, 0), bench.NetworkSpec(spec, 1)) {
		return errors.New("spec.variants: they differ in more than their program, and what is found would be of both")
	}
	return nil
}

// compare runs the benchmark with two builds, and keeps the result.
func (b *bisecting) compare(ctx context.Context, baseline, candidate int) (*result.Result, error) {
	number := len(b.told.Comparisons) + 1
	folder := filepath.Join(b.folder, fmt.Sprintf("%d-build-%d-with-%d", number, candidate, baseline))
	_, _ = fmt.Fprintf(b.progress, "comparison %d: build %d (%s) with build %d (%s)\n",
		number, candidate, b.builds[candidate], baseline, b.builds[baseline])
	if err := artifact.Make(folder); err != nil {
		return nil, err
	}
	variants := b.benchmark.Spec.Variants
	before, after := variants[0].Name+"="+b.builds[baseline], variants[1].Name+"="+b.builds[candidate]
	options := experiment.Options{
		Benchmark:    b.benchmark,
		Shardnodes:   map[string]string{variants[0].Name: b.builds[baseline], variants[1].Name: b.builds[candidate]},
		Folder:       filepath.Join(folder, "networks"),
		Command:      os.Args,
		Repeat:       []string{"shardyard", "bench", "run", "-f", artifact.BenchmarkFile, "--shardnode", before, "--shardnode", after},
		ReadyTimeout: b.readyTimeout,
		Progress:     b.progress,
	}
	var err error
	if options.Shardyard, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	made, err := b.run(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("compare build %d with build %d: %w", candidate, baseline, err)
	}
	if err := artifact.Write(folder, made); err != nil {
		return nil, err
	}
	b.told.Comparisons = append(b.told.Comparisons, comparison{
		Baseline: b.builds[baseline], Candidate: b.builds[candidate], Artifact: folder,
		Outcome: made.Verdict.Outcome, Words: made.Verdict.Words,
	})
	for _, words := range made.Verdict.Words {
		_, _ = fmt.Fprintf(b.progress, "%s: %s\n", made.Verdict.Outcome, words)
	}
	return made, nil
}

// conclude prints what a search came to. The error has the exit code of it.
func (f *bisectFlags) conclude(command *cobra.Command, search *bisecting, found bisection.Found, failed error) error {
	unknown, isUnknown := errors.AsType[*bisection.UnknownError](failed)
	if failed != nil && !isUnknown {
		return failed
	}
	var words string
	switch {
	case isUnknown && found.First > 0:
		words = fmt.Sprintf("build %d is the first that is worse than the first of all, but %s", found.First, unknown)
	case isUnknown:
		words = unknown.Error()
	case found.First == 0:
		last := search.builds[len(search.builds)-1]
		words = fmt.Sprintf("the last build is not Regressed against the first: %s with %s", last, search.builds[0])
	case !found.Alone:
		words = fmt.Sprintf("build %d is the first that is worse than the first of all, but not worse than the one before it: "+
			"the change came in several builds, up to %s", found.First, search.builds[found.First])
	default:
		words = fmt.Sprintf("build %d is the first that is worse: %s", found.First, search.builds[found.First])
	}
	if found.First > 0 {
		search.told.First, search.told.Alone = search.builds[found.First], found.Alone
	}
	out := command.OutOrStdout()
	_, err := fmt.Fprintf(search.progress, "results in %s: %d\n%s\n", search.folder, len(search.told.Comparisons), words)
	if f.format == "json" {
		err = errors.Join(err, json.NewEncoder(out).Encode(search.told))
	}
	if err == nil && !found.Alone {
		err = exitError{exitFailed}
	}
	return err
}
