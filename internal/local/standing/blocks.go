// SPDX-License-Identifier: Apache-2.0

package standing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
)

// mostBlocks is how many blocks are looked at, the newest ones.
const mostBlocks = 600

// turns are those that shards had at one height.
type turns struct {
	height uint64
	at     time.Time
	// missed are the shards of which the block has no chunk of its height, and had those
	// of which it has one.
	missed, had []int
}

func turnsOf(block *chain.Block) turns {
	found := turns{height: block.Height, at: time.UnixMilli(block.TimestampMs)}
	for _, chunk := range block.Chunks {
		if chunk.Height == block.Height {
			found.had = append(found.had, chunk.Shard)
		} else {
			found.missed = append(found.missed, chunk.Shard)
		}
	}
	return found
}

// blocks are the newest finalised ones, from low to high and without a gap.
type blocks []turns

// follow adds the blocks that have been finalised since, by what a node tells, and lets
// go of those before a time.
func (b *blocks) follow(ctx context.Context, client *chain.Client, finalized uint64, since time.Time) error {
	known := uint64(0)
	if len(*b) > 0 {
		known = (*b)[len(*b)-1].height
	}
	var newest []turns
	for height := finalized; height > known && len(newest) < mostBlocks; height-- {
		block, err := client.Block(ctx, height)
		if _, refused := errors.AsType[*chain.RPCError](err); refused {
			// Those below are not kept either.
			break
		}
		if err != nil {
			return err
		}
		found := turnsOf(block)
		if found.at.Before(since) {
			break
		}
		newest = append(newest, found)
	}
	slices.Reverse(newest)
	if len(newest) > 0 && newest[0].height != known+1 {
		*b = nil
	}
	*b = append(*b, newest...)
	*b = slices.DeleteFunc(*b, func(turns turns) bool { return turns.at.Before(since) })
	if len(*b) > mostBlocks {
		*b = slices.Clone((*b)[len(*b)-mostBlocks:])
	}
	return nil
}
