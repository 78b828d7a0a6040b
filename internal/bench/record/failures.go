// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"time"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// mostAsked is how many nodes are asked in a second, in the mean, why transfers
	// failed: what a node tells of its metrics is a hundred times as long as its status.
	mostAsked = 32

	// failuresTimeout is how long a node may take to say it. Samples wait for it.
	failuresTimeout = time.Second
)

// failureMetrics are what says it.
var failureMetrics = []string{result.FailuresMetric, result.RefusalsMetric}

// fallen is how many transfers of a load that producers sign failed or were refused, by
// what is known anyway.
type fallen struct {
	failed, rejected uint64
}

// countFailures has the last sample say why transfers failed up to then, if it is that
// of this time. What all nodes told just now is not asked again, and nothing is asked
// where the reasons are known of as many as there are: to be asked costs a node what is
// measured.
func (r *Recorder) countFailures(ctx context.Context, at time.Time, nodes []Teller, told *counted) {
	last := len(r.run.Samples) - 1
	if last < 0 || r.run.Samples[last].TimeMs != at.UnixMilli() {
		return
	}
	sample := &r.run.Samples[last]
	now := fallen{failed: r.blocks.last().failed}
	if sample.Rejected != nil {
		now.rejected = *sample.Rejected
		if told == nil && r.explained != nil && *r.explained == now {
			sample.Failures = r.failures
			return
		}
	}
	if told == nil {
		due := r.turns%max(1, (len(nodes)+mostAsked-1)/mostAsked) == 0
		r.turns++
		// Who did not tell its status would have the sample wait once more.
		if !due || !r.answered {
			return
		}
		told = ask(ctx, at, failuresTimeout, nodes, func(ctx context.Context, node Teller) (chain.Metrics, error) {
			return node.Metrics.CountersOf(ctx, failureMetrics...)
		})
	}
	if told.untold == nil {
		sample.Failures = told.failures()
		r.failures, r.explained = sample.Failures, &now
	}
}

// failures are those of all nodes together.
func (c *counted) failures() *result.Failures {
	failures := &result.Failures{Failed: map[string]uint64{}, Refused: map[string]uint64{}}
	for kind, count := range c.counters {
		if count <= 0 {
			continue
		}
		switch kind.metric {
		case result.FailuresMetric:
			failures.Failed[kind.kind] = uint64(count)
		case result.RefusalsMetric:
			failures.Refused[kind.kind] = uint64(count)
		}
	}
	return failures
}
