// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
)

// Source is a node that tells blocks.
type Source struct {
	// Name is the node's.
	Name string
	// FinalizedHeight is the last block that it can tell.
	FinalizedHeight uint64
	Blocks          bench.Blocks
}

// Follower has a record and an audit take every finalised block from a height on.
type Follower struct {
	recorder *Recorder
	audit    *bench.Audit
	// next is the height of the next block to ask for, and begun says that the first one
	// was taken.
	next  uint64
	begun bool
	// untold is why that block was not told when it was asked for last.
	untold error
}

// NewFollower follows the blocks from a height on.
func NewFollower(recorder *Recorder, audit *bench.Audit, height uint64) *Follower {
	return &Follower{recorder: recorder, audit: audit, next: height}
}

// Follow takes the blocks that were finalised since the last time. One that no
// node tells is asked for again the next time. The error is a contradiction
// between what nodes told.
func (f *Follower) Follow(ctx context.Context, sources []Source) error {
	var highest uint64
	for i := range sources {
		highest = max(highest, sources[i].FinalizedHeight)
	}
	for f.next <= highest {
		source, block := f.block(ctx, sources, f.next)
		if block == nil {
			break
		}
		if !f.begun {
			f.recall(ctx, sources, block)
			f.begun = true
		}
		if err := f.audit.ObserveBlock(source, block); err != nil {
			return err
		}
		if err := f.recorder.Block(block); err != nil {
			return err
		}
		f.next++
	}
	return nil
}

// Height is that of the last block that was taken.
func (f *Follower) Height() uint64 { return f.next - 1 }

// Untold is why not all blocks were told; nil when they were.
func (f *Follower) Untold() error { return f.untold }

// recall has the recorder know the chunks that were included before the first block, and
// that no header up to it commits to the execution of. Of those that no node tells then, it
// is not known how many fail.
func (f *Follower) recall(ctx context.Context, sources []Source, first *chain.Block) {
	heights := map[uint64]bool{}
	for i := range first.Chunks {
		for _, height := range first.Chunks[i].Uncommitted {
			heights[height] = true
		}
	}
	for _, height := range slices.Sorted(maps.Keys(heights)) {
		if _, block := f.block(ctx, sources, height); block != nil {
			f.recorder.Before(block)
		}
	}
	f.untold = nil
	// That of a shard that missed its chunk is in the block itself.
	f.recorder.Before(first)
}

// block asks the nodes that have finalised a block, one after the other, until one tells
// it. It is nil when none does, and why is kept.
func (f *Follower) block(ctx context.Context, sources []Source, height uint64) (source string, block *chain.Block) {
	f.untold = nil
	for i := range sources {
		if sources[i].FinalizedHeight < height {
			continue
		}
		block, err := sources[i].Blocks.Block(ctx, height)
		if err == nil {
			f.untold = nil
			return sources[i].Name, block
		}
		f.untold = errors.Join(f.untold, err)
	}
	return "", nil
}
