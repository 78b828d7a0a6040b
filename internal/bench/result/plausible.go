// SPDX-License-Identifier: Apache-2.0

package result

import (
	"fmt"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
	// longestRun is more than the spec of any benchmark comes to.
	longestRun = 66 * week
)

// checkBlocks says whether the blocks of all runs can be those of chains under the load
// that was declared: what is drawn and computed of them relies on their order, and takes
// memory for the time that they span.
func (r *Result) checkBlocks() error {
	longest := longestOf(&r.Benchmark.Spec)
	for i := range r.Runs {
		if err := r.Runs[i].checkBlocks(longest); err != nil {
			return fmt.Errorf("run %d of the result: %w", i+1, err)
		}
	}
	return nil
}

// checkBlocks says whether the blocks of a run rise, as those of every chain do, and span
// no more than a time.
func (r *Run) checkBlocks(longest time.Duration) error {
	if len(r.Blocks) == 0 {
		return nil
	}
	for i := 1; i < len(r.Blocks); i++ {
		before, block := &r.Blocks[i-1], &r.Blocks[i]
		if block.Height <= before.Height || block.TimestampMs <= before.TimestampMs {
			return fmt.Errorf("block %d at %d ms follows block %d at %d ms", block.Height, block.TimestampMs, before.Height, before.TimestampMs)
		}
	}
	// They rise, so the difference has no sign, also where it is more than a number with one holds.
	span := uint64(r.Blocks[len(r.Blocks)-1].TimestampMs) - uint64(r.Blocks[0].TimestampMs)
	if span > uint64(longest.Milliseconds()) {
		return fmt.Errorf("its blocks span %d ms, and a run of the benchmark takes %s at most", span, longest)
	}
	return nil
}

// longestOf is how long a run of a benchmark takes at most, and a day, which is more than
// anything in it may be late.
func longestOf(spec *v1alpha1.BenchmarkSpec) time.Duration {
	measured, steps := period(spec.DurationSeconds), 1
	if spec.WarmUpSeconds != nil {
		measured += period(*spec.WarmUpSeconds)
	}
	var settling time.Duration
	switch load := &spec.Load; {
	case load.Ramp != nil:
		for _, step := range load.Ramp.Steps {
			settling = min(settling+period(step.DurationSeconds), longestRun)
		}
	case load.ClosedLoop != nil:
		settling = period(load.ClosedLoop.MaxSettleSeconds)
	case load.Search != nil:
		settling = period(load.Search.MaxSearchSeconds)
	case load.OpenLoop != nil:
		steps = max(1, len(load.OpenLoop.Steps))
	}
	for range steps {
		settling = min(settling+measured, longestRun)
	}
	return settling + day
}

// period is a time of a spec, none of which is longer than a week.
func period(seconds int32) time.Duration {
	return min(max(0, time.Duration(seconds)*time.Second), week)
}
