// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"io"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/verdict"
	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/local/usage"
)

// runNamed runs a benchmark on a network that runs already, which has its own load again
// when it returns.
func (o *Options) runNamed(ctx context.Context) (*result.Result, error) {
	spec := &o.Benchmark.Spec
	borrowed, err := local.Borrow(ctx, o.StateDir, spec)
	if err != nil {
		return nil, err
	}
	defer borrowed.GiveBack()
	made := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Benchmark:     *o.Benchmark,
		Command:       o.Command,
		Repeat:        o.Repeat,
		StartedAt:     time.Now().UTC(),
		Commit:        o.Commit,
		Environment:   usage.NewReader().Environment(borrowed.Folder),
		NotApplied:    local.Inapplicable(borrowed.Network),
		Seeds:         verdict.Seeds(borrowed.Network.Spec.Genesis.Seed),
	}
	if made.Shardyard, err = program(o.Shardyard); err != nil {
		return nil, err
	}
	measured := result.Variant{Network: *borrowed.Network.Spec.DeepCopy()}
	measured.Network.Load = spec.Load.DeepCopy()
	made.Variants = append(made.Variants, measured)
	warmUp, duration := bench.Measured(spec)
	if err := o.recordAll(ctx, made, func(
		ctx context.Context, _ bench.PlannedRun, _ *local.Company, progress io.Writer,
	) (*result.Run, error) {
		return borrowed.Record(ctx, &spec.Load, warmUp, duration, o.ReadyTimeout, progress)
	}); err != nil {
		return nil, err
	}
	made.Environment.Network = &result.Network{
		Name: borrowed.Network.Name, CreatedAt: borrowed.CreatedAt, Height: made.Runs[0].BeganHeight,
	}
	return o.conclude(made), nil
}
