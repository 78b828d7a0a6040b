// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"errors"

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
	// next is the height of the next block to ask for.
	next uint64
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
		source, block := f.block(ctx, sources)
		if block == nil {
			break
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

// block asks the nodes that have finalised the next block, one after the other,
// until one tells it. It is nil when none does, and why is kept.
func (f *Follower) block(ctx context.Context, sources []Source) (source string, block *chain.Block) {
	f.untold = nil
	for i := range sources {
		if sources[i].FinalizedHeight < f.next {
			continue
		}
		block, err := sources[i].Blocks.Block(ctx, f.next)
		if err == nil {
			f.untold = nil
			return sources[i].Name, block
		}
		f.untold = errors.Join(f.untold, err)
	}
	return "", nil
}
