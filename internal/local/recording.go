// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/usage"
)

// recording asks for what the record of a run is made from.
type recording struct {
	recorder *record.Recorder
	usage    usage.Reader
	schedule bench.Schedule
	// next is the height of the next block to ask for.
	next uint64
	// untold is why that block was not told when it was asked for last.
	untold error
}

// take records a sample of the run, and the blocks that were finalised since the
// last one. The error is a contradiction between what nodes told.
func (r *run) take(ctx context.Context, sample bench.Sample) error {
	taken := record.Sample{At: time.Now(), Host: r.recording.usage.Host()}
	taken.OfferedPerSecond = r.recording.schedule.Rate(taken.At.Sub(r.window.Begin))
	for i, supervisor := range r.group.supervisors {
		taken.Nodes = append(taken.Nodes, record.Node{
			Validator: supervisor.node.validator,
			Status:    sample.Nodes[i].Status,
			Usage:     r.recording.usage.Process(supervisor.current().pid),
		})
	}
	r.recording.recorder.Sample(taken)

	if best := sample.Best(); best != nil {
		return r.takeBlocks(ctx, sample, best.FinalizedHeight)
	}
	return nil
}

// takeBlocks records the blocks up to a height. One that no node tells is asked
// for again with the next sample.
func (r *run) takeBlocks(ctx context.Context, sample bench.Sample, to uint64) error {
	for r.recording.next <= to {
		node, block := r.block(ctx, sample, r.recording.next)
		if block == nil {
			break
		}
		if err := r.audit.ObserveBlock(node, block); err != nil {
			return err
		}
		if err := r.recording.recorder.Block(block); err != nil {
			return err
		}
		r.recording.next++
	}
	return nil
}

// block asks the nodes that have finalised a height for its block, one after the
// other, until one tells it. It is nil when none does, and why is kept.
func (r *run) block(ctx context.Context, sample bench.Sample, height uint64) (node string, block *chain.Block) {
	r.recording.untold = nil
	for i, supervisor := range r.group.supervisors {
		status := sample.Nodes[i].Status
		if status == nil || status.FinalizedHeight < height {
			continue
		}
		block, err := supervisor.client.Block(ctx, height)
		if err == nil {
			r.recording.untold = nil
			return supervisor.name(), block
		}
		r.recording.untold = errors.Join(r.recording.untold, err)
	}
	return "", nil
}
