// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/verdict"
	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/local/usage"
)

const (
	// statisticsSeed is what intervals follow from: with another one they differ
	// in their last digits.
	statisticsSeed = 1

	// confidencePercent is that of the intervals of figures when the benchmark
	// names none.
	confidencePercent = 95

	folderMode os.FileMode = 0o755
)

// Run runs a benchmark to its end. No process is left when it returns. The error
// is about what kept it from being run; what it came to is in the result.
func Run(ctx context.Context, options Options) (*result.Result, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	variants := options.variants()
	made := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Benchmark:     *options.Benchmark,
		Command:       options.Command,
		Repeat:        options.Repeat,
		StartedAt:     time.Now().UTC(),
		Commit:        options.Commit,
		Environment:   usage.NewReader().Environment(options.Folder),
		NotApplied:    local.Inapplicable(variants[0].network),
		Seeds:         result.Seeds{Genesis: variants[0].network.Spec.Genesis.Seed, Statistics: statisticsSeed},
	}
	if err := options.describePrograms(made, variants); err != nil {
		return nil, err
	}
	runs := schedule(variants, int(options.Benchmark.Spec.Repetitions))
	for i, run := range runs {
		_, _ = fmt.Fprintf(options.Progress, "%s, %d of %d in all\n", run, i+1, len(runs))
		recorded, err := options.record(ctx, run)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run, err)
		}
		recorded.Variant, recorded.Repetition = run.variant.name, run.repetition
		made.Runs = append(made.Runs, *recorded)
	}
	made.EndedAt = time.Now().UTC()
	options.conclude(made)
	return made, nil
}

// record makes one run. Its network is removed, unless it is to be kept.
func (o *Options) record(ctx context.Context, run planned) (_ *result.Run, err error) {
	folder := filepath.Join(o.Folder, run.folder())
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, err
	}
	if !o.Keep {
		defer func() { err = errors.Join(err, os.RemoveAll(folder), removeEmpty(o.Folder)) }()
	}
	spec := &o.Benchmark.Spec
	var warmUp time.Duration
	if spec.WarmUpSeconds != nil {
		warmUp = time.Duration(*spec.WarmUpSeconds) * time.Second
	}
	return local.Record(ctx, local.RecordOptions{
		Network:      run.variant.network,
		StateDir:     folder,
		Shardnode:    run.variant.shardnode,
		WarmUp:       warmUp,
		Duration:     time.Duration(spec.DurationSeconds) * time.Second,
		ReadyTimeout: o.ReadyTimeout,
		Progress:     o.Progress,
	})
}

// removeEmpty removes a folder that nothing is in.
func removeEmpty(folder string) error {
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		return err
	}
	return os.Remove(folder)
}

// conclude makes the figures, the comparison and the verdict of recorded runs.
func (o *Options) conclude(made *result.Result) {
	how := o.Benchmark.Spec.Baseline
	confidence := int32(confidencePercent)
	if how != nil {
		confidence = how.ConfidencePercent
	}
	for i := range made.Variants {
		variant := &made.Variants[i]
		runs := made.RunsOf(variant.Name)
		variant.Figures = figures.Of(runs, confidence, statisticsSeed)
		if nodes := runs[0].Nodes; len(nodes) > 0 {
			variant.Shardnode.Version = nodes[0].Version
		}
	}
	candidate := verdict.Side{Name: made.Candidate().Name, Runs: made.RunsOf(made.Candidate().Name)}
	switch {
	case len(made.Variants) > 1:
		baseline := verdict.Side{Name: made.Variants[0].Name, Runs: made.RunsOf(made.Variants[0].Name)}
		made.Comparison = verdict.Compare(baseline, candidate, how, true, statisticsSeed)
	case o.Baseline != nil:
		earlier := o.Baseline.Candidate().Name
		baseline := verdict.Side{Name: o.BaselineName, Runs: o.Baseline.RunsOf(earlier)}
		candidate.Name = o.Benchmark.Name
		made.Comparison = verdict.Compare(baseline, candidate, how, false, statisticsSeed)
		made.Comparison.Notes = append(made.Comparison.Notes, verdict.Differences(o.Baseline, made)...)
	}
	made.Verdict = verdict.Judge(o.Benchmark.Spec.Criteria, made.Runs, made.Candidate(), made.Comparison)
}

// describePrograms says with what the result was made.
func (o *Options) describePrograms(made *result.Result, variants []variant) (err error) {
	if made.Shardyard, err = program(o.Shardyard); err != nil {
		return err
	}
	for i := range variants {
		shardnode, err := program(variants[i].shardnode)
		if err != nil {
			return err
		}
		made.Variants = append(made.Variants, result.Variant{
			Name: variants[i].name, Shardnode: shardnode, Network: variants[i].network.Spec,
		})
	}
	return nil
}

func program(path string) (result.Program, error) {
	file, err := os.Open(path)
	if err != nil {
		return result.Program{}, err
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return result.Program{}, fmt.Errorf("read %s: %w", path, err)
	}
	return result.Program{Path: path, SHA256: hex.EncodeToString(digest.Sum(nil))}, nil
}
