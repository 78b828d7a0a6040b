// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/report"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bucket"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/local/experiment"
	"github.com/shardyard/shardyard/internal/manifest"
)

// The exit codes of a benchmark that came to its end. What could not be run has
// the exit code of every error, 1; 2 is what a crash of this program has.
const (
	exitFailed    = 3
	exitRegressed = 4
)

// noBaseline is what --baseline says when there is none.
const noBaseline = "none"

const benchRunLong = `Run a benchmark on this machine: for each run a network is made, carries the
load, is measured and is removed. Two variants take turns. A network that the
benchmark names is one that shardyard up runs: it carries the load instead of its
own, and has its own again afterwards.

The result is a folder with result.json, blocks.csv, failures.csv, report.html,
which opens by itself, and benchmark.yaml, which makes the next result. The last
lines that are printed are the verdict.

A benchmark with spec.upload has its result put into that bucket as well, with the
credentials of the environment.

The exit code is 0 for Succeeded, 3 for Failed and 4 for Regressed; 1 says that
the benchmark could not be run to its end, and that there is no result, or that it
is not in its bucket.`

func newBenchCommand() *cobra.Command {
	command := &cobra.Command{Use: "bench", Short: "Run benchmarks, and fetch the results of a cluster", Args: cobra.NoArgs}
	command.AddCommand(newBenchRunCommand(), newBenchBisectCommand(), newBenchFetchCommand())
	return command
}

// benchFlags are the flags of bench run.
type benchFlags struct {
	path, artifact, format, baseline, commit, stateDir string
	shardnodes                                         []string
	keep                                               bool
	readyTimeout                                       time.Duration
	profile, profileVariant                            string
	profileSeconds                                     int32
}

func newBenchRunCommand() *cobra.Command {
	var given benchFlags
	command := &cobra.Command{
		Use:   "run -f FILE",
		Short: "Run a benchmark on this machine",
		Long:  benchRunLong,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runBench(command, given)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&given.path, "filename", "f", "", "file that holds one Benchmark, in YAML or JSON")
	if err := command.MarkFlagRequired("filename"); err != nil {
		panic(err)
	}
	flags.StringVar(&given.artifact, "artifact", "", "folder to write the result to, new or empty (default results/NAME/TIME)")
	flags.StringVarP(&given.format, "output", "o", "text",
		"output format: text, or json for progress on standard error and the verdict, a line, on standard output")
	flags.StringVar(&given.baseline, "baseline", "",
		`artifact of an earlier run to compare with, or "none" for a first run of a benchmark that says how to compare`)
	flags.StringVar(&given.commit, "commit", "", "commit that the programs are of, for the result")
	flags.StringArrayVar(&given.shardnodes, "shardnode", nil,
		"the node program (default the one beside this program, or else of the PATH); VARIANT=PATH for that of a variant")
	flags.BoolVar(&given.keep, "keep", false, "leave the networks of the runs, with their logs and data, in the artifact")
	flags.StringVar(&given.profile, "profile", "",
		"take a profile of all validators through each measurement, which has what its samples cost in it: "+profileKinds())
	flags.Int32Var(&given.profileSeconds, "profile-seconds", 0,
		"take it after each measurement instead, under the same load, for so many seconds: 1 to 60; without --profile, of kind CPU")
	flags.StringVar(&given.profileVariant, "profile-variant", "", "take it of the runs of this variant alone")
	completeProfileKinds(command, "profile")
	flags.DurationVar(&given.readyTimeout, "ready-timeout", 2*time.Minute,
		"how long the validators of a run may take to become ready, or a network that the benchmark names to come to rest")
	addStateDirFlag(command, &given.stateDir)
	return command
}

// check refuses values of flags.
func (f *benchFlags) check(command *cobra.Command) error {
	if f.format != "text" && f.format != "json" {
		return fmt.Errorf("unknown output format %q: want text or json", f.format)
	}
	if f.readyTimeout <= 0 {
		return fmt.Errorf("--ready-timeout must be positive, is %s", f.readyTimeout)
	}
	if command.Flags().Changed("profile-seconds") && (f.profileSeconds < 1 || f.profileSeconds > chain.MostProfileSeconds) {
		return fmt.Errorf("--profile-seconds must be 1 to %d, is %d", chain.MostProfileSeconds, f.profileSeconds)
	}
	return nil
}

func runBench(command *cobra.Command, given benchFlags) error {
	if err := given.check(command); err != nil {
		return err
	}
	benchmark, err := manifest.ReadBenchmark(given.path)
	if err != nil {
		return err
	}
	// Where the result goes is no part of what another one is made from.
	upload := benchmark.Spec.Upload
	benchmark.Spec.Upload = nil
	if upload != nil {
		if err := artifact.Reach(command.Context(), upload.URL); err != nil {
			return fmt.Errorf("spec.upload.url: %w", err)
		}
	}
	options, err := given.options(command.Context(), benchmark)
	if err != nil {
		return err
	}
	if err := options.Check(); err != nil {
		return err
	}
	folder, err := resultFolder(given.artifact, benchmark)
	if err != nil {
		return err
	}
	if err := artifact.Make(folder); err != nil {
		return err
	}
	options.Folder = filepath.Join(folder, "networks")
	options.Profiles = filepath.Join(folder, "profiles")
	options.Progress = command.OutOrStdout()
	if given.format == "json" {
		options.Progress = command.ErrOrStderr()
	}

	ctx, stop := untilHangup(command.Context())
	defer stop()
	made, err := experiment.Run(ctx, *options)
	if err != nil {
		return err
	}
	if err := artifact.Write(folder, made); err != nil {
		return err
	}
	kept := keptResult{result: made, folder: folder}
	var failed error
	if upload != nil {
		kept.url, failed = artifact.Upload(ctx, folder, upload.URL)
	}
	if err := kept.tell(command.OutOrStdout(), given.format); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("the result is in %s, and not in its bucket: %w", folder, failed)
	}
	return exitOf(made.Verdict.Outcome)
}

// keptResult is a result and where it is.
type keptResult struct {
	result *result.Result
	// folder is the folder of it, and url its place in a bucket; empty when it is in none.
	folder, url string
}

// tell prints what a benchmark came to.
func (k *keptResult) tell(out io.Writer, format string) error {
	if format == "json" {
		return json.NewEncoder(out).Encode(struct {
			Artifact    string             `json:"artifact"`
			ArtifactURL string             `json:"artifactURL,omitempty"`
			Verdict     result.Verdict     `json:"verdict"`
			Comparison  *result.Comparison `json:"comparison,omitempty"`
		}{k.folder, k.url, k.result.Verdict, k.result.Comparison})
	}
	also := ""
	if k.url != "" {
		also = "\nand in " + k.url
	}
	if _, err := fmt.Fprintf(out, "the result is in %s%s\n\n", k.folder, also); err != nil {
		return err
	}
	return report.WriteText(out, k.result)
}

// exitOf is the error that has the exit code of an outcome.
func exitOf(outcome result.Outcome) error {
	switch outcome {
	case result.Succeeded:
		return nil
	case result.Regressed:
		return exitError{exitRegressed}
	default:
		return exitError{exitFailed}
	}
}

// resultFolder is where results go, unless it is named.
func resultFolder(named string, benchmark *v1alpha1.Benchmark) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	return filepath.Abs(filepath.Join("results", benchmark.Name, time.Now().UTC().Format("20060102T150405Z")))
}

func (f *benchFlags) options(ctx context.Context, benchmark *v1alpha1.Benchmark) (*experiment.Options, error) {
	options := &experiment.Options{
		Benchmark:      benchmark,
		Shardnodes:     map[string]string{},
		Keep:           f.keep,
		Command:        os.Args,
		Commit:         f.commit,
		ReadyTimeout:   f.readyTimeout,
		ProfileSeconds: f.profileSeconds,
		ProfileVariant: f.profileVariant,
	}
	var err error
	if options.Profile, err = f.profileKind(); err != nil {
		return nil, err
	}
	if options.Shardyard, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if err := f.findNetwork(options); err != nil {
		return nil, err
	}
	switch f.baseline {
	case "":
	case noBaseline:
		options.Without = true
	default:
		if options.Baseline, err = artifact.Read(ctx, f.baseline); err != nil {
			return nil, fmt.Errorf("read the baseline: %w", err)
		}
		options.BaselineName = artifact.Name(f.baseline)
	}
	options.Repeat, err = f.repeat(options)
	return options, err
}

// profileKind is the kind of the profiles that are wanted; empty for none.
func (f *benchFlags) profileKind() (chain.ProfileKind, error) {
	switch {
	case f.profile != "":
		return profileKind(f.profile)
	case f.profileSeconds > 0:
		return chain.ProfileCPU, nil
	default:
		return "", nil
	}
}

// findNetwork finds what runs the networks of the benchmark, or where the one is that
// it names.
func (f *benchFlags) findNetwork(options *experiment.Options) (err error) {
	options.StateDir = f.stateDir
	if options.Benchmark.Spec.Network.Name == "" || len(f.shardnodes) > 0 {
		return f.findShardnodes(options)
	}
	options.StateDir, err = stateDirOr(f.stateDir)
	return err
}

// findShardnodes finds the node programs: that of all variants, and those of some.
func (f *benchFlags) findShardnodes(options *experiment.Options) error {
	named := ""
	for _, given := range f.shardnodes {
		variant, path, ofVariant := strings.Cut(given, "=")
		if !ofVariant {
			if named != "" {
				return fmt.Errorf("--shardnode is given twice: %s and %s", named, given)
			}
			named = given
			continue
		}
		if _, again := options.Shardnodes[variant]; again {
			return fmt.Errorf("--shardnode is given twice for variant %s", variant)
		}
		found, err := local.FindShardnode(path)
		if err != nil {
			return err
		}
		options.Shardnodes[variant] = found
	}
	// Nobody needs another program when every variant has its own.
	if len(options.Benchmark.Spec.Variants) > 0 && len(options.Shardnodes) == len(options.Benchmark.Spec.Variants) {
		if named != "" {
			return fmt.Errorf("--shardnode %s is for no variant: each has another one", named)
		}
		return nil
	}
	var err error
	options.Shardnode, err = local.FindShardnode(named)
	return err
}

// repeat is the command line that makes another result from the artifact: in its folder,
// where what was named from here is elsewhere.
func (f *benchFlags) repeat(options *experiment.Options) ([]string, error) {
	repeat := []string{"shardyard", "bench", "run", "-f", artifact.BenchmarkFile}
	add := func(flag, value string) {
		if value != "" {
			repeat = append(repeat, flag, value)
		}
	}
	add("--shardnode", options.Shardnode)
	for _, variant := range slices.Sorted(maps.Keys(options.Shardnodes)) {
		add("--shardnode", variant+"="+options.Shardnodes[variant])
	}
	stateDir, err := fromAnywhere(f.stateDir)
	if err != nil {
		return nil, err
	}
	add("--state-dir", stateDir)
	baseline := f.baseline
	if baseline != noBaseline {
		if baseline, err = fromAnywhere(baseline); err != nil {
			return nil, err
		}
	}
	add("--baseline", baseline)
	add("--profile", string(options.Profile))
	add("--profile-variant", options.ProfileVariant)
	if options.ProfileSeconds > 0 {
		add("--profile-seconds", strconv.Itoa(int(options.ProfileSeconds)))
	}
	return repeat, nil
}

// fromAnywhere is a place as it is named in any folder.
func fromAnywhere(place string) (string, error) {
	if place == "" || bucket.IsURL(place) {
		return place, nil
	}
	return filepath.Abs(place)
}
