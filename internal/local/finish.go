// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
)

// finishTimeout bounds the last look at the chain.
const finishTimeout = 10 * time.Second

// finish ends the load and looks at what became of the chain: the measurement,
// and whether all validators that run have the same blocks and state roots.
func (r *run) finish(ctx context.Context) (bench.Measurement, error) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()

	final := r.group.sample(ctx)
	r.observe(final)
	measured, err := r.window.Measure(final)
	r.load.apply(ctx, 0)
	r.awaitAgreement(ctx, final)
	r.compareBlocks(ctx)
	return measured, err
}

// awaitAgreement waits until the state of every validator that runs is
// confirmed by a header, at a height that no sample had seen finalised before.
func (r *run) awaitAgreement(ctx context.Context, final bench.Sample) {
	var from uint64
	if best := final.Best(); best != nil {
		from = best.FinalizedHeight
	}
	ticker := time.NewTicker(blockPollInterval)
	defer ticker.Stop()
	for r.violation == nil {
		unconfirmed := r.unconfirmed(from)
		if len(unconfirmed) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			r.console.printf("within %s, no header confirmed the state of %s", finishTimeout, strings.Join(unconfirmed, ", "))
			return
		case <-ticker.C:
		}
		if sample := r.group.sample(ctx); ctx.Err() == nil {
			r.observe(sample)
		}
	}
}

// unconfirmed lists the validators that run but whose state is not confirmed
// from a height on.
func (r *run) unconfirmed(from uint64) []string {
	var names []string
	for _, supervisor := range r.group.supervisors {
		if supervisor.current().ready && r.audit.Confirmed(supervisor.name()) < from {
			names = append(names, supervisor.name())
		}
	}
	return names
}

// compareBlocks asks all validators that run for the same block: the last one
// that all of them have finalised.
func (r *run) compareBlocks(ctx context.Context) {
	height, ok := r.commonHeight()
	if r.violation != nil || !ok {
		return
	}
	var first *chain.Block
	var firstName string
	for _, supervisor := range r.group.supervisors {
		if !supervisor.current().ready {
			continue
		}
		block, err := supervisor.client.Block(ctx, height)
		if err != nil {
			r.console.printf("validator %s does not tell block %d: %v", supervisor.name(), height, err)
			continue
		}
		if first == nil {
			first, firstName = block, supervisor.name()
		}
		if block.Hash != first.Hash {
			r.violation = &bench.DivergenceError{First: firstName, Second: supervisor.name(), Subject: fmt.Sprintf(
				"blocks %s and %s are finalised at height %d", first.Hash, block.Hash, height)}
			return
		}
	}
}

// commonHeight is the last height that all validators that run have finalised;
// false when none answered.
func (r *run) commonHeight() (uint64, bool) {
	var height uint64
	var found bool
	for i, supervisor := range r.group.supervisors {
		status := r.last.Nodes[i].Status
		if status == nil || !supervisor.current().ready {
			continue
		}
		if !found || status.FinalizedHeight < height {
			height, found = status.FinalizedHeight, true
		}
	}
	return height, found
}
