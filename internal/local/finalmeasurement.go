// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/topology"
)

// finishTimeout bounds each step of the last look at the chain.
const finishTimeout = 10 * time.Second

// finish ends the load and looks at what became of the chain: the measurement,
// and whether the validators have the same blocks and state roots.
func (r *run) finish(ctx context.Context) (bench.Measurement, error) {
	final := r.lastSample(ctx, func(ctx context.Context) bench.Sample {
		return supervision.SampleAll(ctx, r.group.Supervisors)
	})
	r.observe(final)
	r.reached = r.furthest
	measured, err := r.window.Measure(final)
	r.load.Apply(ctx, 0)

	if best := final.Best(); best != nil && r.violation == nil {
		validators := r.comparable(final)
		r.awaitAgreement(ctx, validators, best.FinalizedHeight)
		r.compareBlocks(ctx, validators)
	}
	return measured, err
}

// interruptedAtOnce says whether nothing was measured because somebody, or the lifetime of
// the network, ended the run before there was a block of it.
func (r *run) interruptedAtOnce(ctx context.Context, err error) bool {
	return errors.Is(err, bench.ErrNoBlocks) && ctx.Err() != nil && r.reached.FinalizedHeight == r.base.FinalizedHeight
}

// standsStill says that the last block was long ago when the run ended; nil when it was
// not. What is measured ends with that block, and tells nothing of the time after it.
func (r *run) standsStill(ended time.Time, patience time.Duration) error {
	last := r.reached
	age := ended.Sub(time.UnixMilli(last.FinalizedTimeMs))
	if age <= patience {
		return nil
	}
	return fmt.Errorf("the chain stood still: its last block, at height %s, was %s old when the run ended",
		console.Thousands(last.FinalizedHeight), age.Round(time.Second))
}

// standstillAfter is how long ago the last block of a chain may be. Several are due in that
// time, however slow the chain is meant to be.
func standstillAfter(network *v1alpha1.ShardNetwork) time.Duration {
	const blocks = 5
	return max(standstillPatience, blocks*time.Duration(network.Spec.Protocol.MinBlockTimeMilliseconds)*time.Millisecond)
}

// lastSample asks the validators until one of them answers, and knows of the chain of this
// run: on a machine that is too busy for any to answer in time, or with nodes that were just
// started again, a run is measured all the same.
func (r *run) lastSample(ctx context.Context, ask func(context.Context) bench.Sample) bench.Sample {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	ticker := time.NewTicker(blockPollInterval)
	defer ticker.Stop()
	for {
		sample := ask(ctx)
		if best := sample.Best(); best != nil && best.FinalizedHeight >= r.base.FinalizedHeight {
			return sample
		}
		select {
		case <-ctx.Done():
			return sample
		case <-ticker.C:
		}
	}
}

// comparable lists the validators that take part in the chain. The others are
// named: nobody should think that they have been compared.
func (r *run) comparable(final bench.Sample) []*supervision.Supervisor {
	var validators []*supervision.Supervisor
	for i, supervisor := range r.group.Supervisors {
		switch state := supervisor.Current(); {
		case final.Nodes[i].Status == nil:
			r.console.Printf("validator %s is not compared with the others: it does not answer", supervisor.Name())
		case !state.Ready:
			r.console.Printf("validator %s is not compared with the others, it is not ready: %s", supervisor.Name(), state.Reason)
		default:
			validators = append(validators, supervisor)
		}
	}
	return validators
}

// awaitAgreement waits until the state of every producer is confirmed by a
// header, from a height on that was the last finalised one.
func (r *run) awaitAgreement(ctx context.Context, validators []*supervision.Supervisor, from uint64) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	ticker := time.NewTicker(blockPollInterval)
	defer ticker.Stop()
	follower := r.audit.Follow(from)
	var untold error
	for r.violation == nil {
		unconfirmed := r.unconfirmed(validators, from)
		if len(unconfirmed) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			r.console.Printf("within %s, no header confirmed the state of %s", finishTimeout, strings.Join(unconfirmed, ", "))
			if untold != nil {
				r.console.Printf("not all blocks were compared: %v", untold)
			}
			return
		case <-ticker.C:
		}
		if sample := supervision.SampleAll(ctx, validators); sample.Best() != nil {
			r.observe(sample)
			untold = r.follow(ctx, follower, validators)
		}
	}
}

// follow observes the blocks that the validators have finalised since. The
// error says which block a validator did not tell; others may have told it.
func (r *run) follow(ctx context.Context, follower *bench.Follower, validators []*supervision.Supervisor) error {
	var untold error
	for i, node := range r.last.Nodes {
		if node.Status == nil {
			continue
		}
		err := follower.To(ctx, validators[i].Client, node.Status)
		if divergence := (*bench.DivergenceError)(nil); errors.As(err, &divergence) {
			r.violation = divergence
			return nil
		}
		if err != nil {
			untold = err
		}
	}
	return untold
}

// unconfirmed lists the validators with a state that is not confirmed from a
// height on. Chunk validators have none.
func (r *run) unconfirmed(validators []*supervision.Supervisor, from uint64) []string {
	var names []string
	for _, validator := range validators {
		if validator.Node.Validator.Role == topology.RoleProducer && r.audit.Confirmed(validator.Name()) < from {
			names = append(names, validator.Name())
		}
	}
	return names
}

// compareBlocks asks validators for the same block: the last one that all of
// them are known to have finalised.
func (r *run) compareBlocks(ctx context.Context, validators []*supervision.Supervisor) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	height := r.last.Best().FinalizedHeight
	for _, status := range r.last.Answers() {
		height = min(height, status.FinalizedHeight)
	}
	var firstName, firstHash string
	for _, validator := range validators {
		if r.violation != nil {
			return
		}
		block, err := validator.Client.Block(ctx, height)
		if err != nil {
			r.console.Printf("validator %s does not tell block %d: %v", validator.Name(), height, err)
			continue
		}
		if firstName == "" {
			firstName, firstHash = validator.Name(), block.Hash
		}
		if block.Hash != firstHash {
			r.violation = &bench.DivergenceError{First: firstName, Second: validator.Name(), Subject: fmt.Sprintf(
				"blocks %s and %s are finalised at height %d", firstHash, block.Hash, height)}
		}
	}
}
