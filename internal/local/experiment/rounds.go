// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/local"
)

// recordRun makes one run: side by side with its company, if it has one.
type recordRun func(ctx context.Context, run bench.PlannedRun, company *local.Company, progress io.Writer) (*result.Run, error)

// recordAll makes all runs of the benchmark, round by round.
func (o *Options) recordAll(ctx context.Context, made *result.Result, record recordRun) error {
	for _, setting := range made.NotApplied {
		_, _ = fmt.Fprintln(o.Progress, setting)
	}
	rounds := bench.Rounds(&o.Benchmark.Spec)
	for i, round := range rounds {
		recorded, err := o.recordRound(ctx, round, fmt.Sprintf("%d of %d in all", i+1, len(rounds)), record)
		if err != nil {
			return err
		}
		made.Runs = append(made.Runs, recorded...)
	}
	return nil
}

// recordRound makes the runs of a round at the same time. The first error ends all
// of them.
func (o *Options) recordRound(ctx context.Context, round []bench.PlannedRun, counted string, record recordRun) ([]result.Run, error) {
	var company *local.Company
	if len(round) > 1 {
		company = local.NewCompany(len(round))
	}
	recorded := make([]result.Run, len(round))
	group, ctx := errgroup.WithContext(ctx)
	lines := new(sync.Mutex)
	// Once the first one runs, lines are written under the lock.
	for _, run := range round {
		_, _ = fmt.Fprintf(o.Progress, "%s, %s\n", run, counted)
	}
	for i, run := range round {
		progress := o.Progress
		if company != nil {
			progress = &labelled{lines: lines, out: o.Progress, label: run.VariantName}
		}
		group.Go(func() error {
			made, err := record(ctx, run, company, progress)
			if err != nil {
				return fmt.Errorf("%s: %w", run, err)
			}
			made.Variant, made.Repetition = run.VariantName, run.Repetition
			recorded[i] = *made
			return nil
		})
	}
	return recorded, group.Wait()
}

// labelled writes lines that say whose they are.
type labelled struct {
	lines *sync.Mutex
	out   io.Writer
	label string
}

// Write writes whole lines.
func (l *labelled) Write(line []byte) (int, error) {
	l.lines.Lock()
	defer l.lines.Unlock()
	if _, err := fmt.Fprintf(l.out, "%s: %s", l.label, line); err != nil {
		return 0, err
	}
	return len(line), nil
}
