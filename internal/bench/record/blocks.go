// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

// blocks makes the rows of finalised blocks.
type blocks struct {
	rows []result.Block
	// tallies are what had become of transfers up to each of the rows.
	tallies []tally
	// ended is the number of the last row that says of any of them what became of it.
	ended int
	// included has the transfers of chunks that no header commits to the execution
	// of yet.
	included map[chunk]uint64
}

// chunk is one shard's chunk at one height.
type chunk struct {
	shard  int
	height uint64
}

// tally is what had become of the transfers of all chunks above the first block.
type tally struct {
	executed, failed uint64
}

// tally adds what a header says of a chunk with so many transactions.
func (b *blocks) tally(so *tally, height, transactions, transfers uint64) {
	if len(b.rows) > 0 && height > b.rows[0].Height {
		so.executed += transfers
		so.failed += transactions - transfers
	}
}

// last is what had become of transfers up to the last block.
func (b *blocks) last() tally {
	if len(b.tallies) == 0 {
		return tally{}
	}
	return b.tallies[len(b.tallies)-1]
}

// before takes a block from before the first one: later headers may commit to the
// execution of its chunks.
func (b *blocks) before(block *chain.Block) {
	for i := range block.Chunks {
		if header := &block.Chunks[i]; header.Transactions != nil {
			b.included[chunk{header.Shard, header.Height}] = *header.Transactions
		}
	}
}

// add takes the next block.
func (b *blocks) add(block *chain.Block) error {
	if count := len(b.rows); count > 0 {
		before := &b.rows[count-1]
		if before.Height+1 != block.Height {
			return fmt.Errorf("block %d follows block %d", block.Height, before.Height)
		}
		// A result with such blocks would not be read.
		if block.TimestampMs <= before.TimestampMs {
			return fmt.Errorf("the timestamp of block %d is %d ms, and that of block %d before it %d ms",
				block.Height, block.TimestampMs, before.Height, before.TimestampMs)
		}
	}
	row := result.Block{Height: block.Height, TimestampMs: block.TimestampMs, Shards: len(block.Chunks)}
	failed, known, so := uint64(0), true, b.last()
	for i := range block.Chunks {
		header := &block.Chunks[i]
		if header.Height != block.Height {
			row.MissedChunks++
			continue
		}
		if header.Transactions == nil {
			return fmt.Errorf("block %d does not say how many transactions the chunk of shard %d has", block.Height, header.Shard)
		}
		row.Included += *header.Transactions
		b.included[chunk{header.Shard, header.Height}] = *header.Transactions
		for _, executed := range header.Results {
			if executed.Transfers == nil || executed.Credits == nil {
				return fmt.Errorf("block %d does not say what shard %d executed at height %d", block.Height, header.Shard, executed.Height)
			}
			row.Executed += *executed.Transfers
			row.Credits += *executed.Credits
			of := chunk{header.Shard, executed.Height}
			transactions, ok := b.included[of]
			delete(b.included, of)
			if !ok || transactions < *executed.Transfers {
				known = false
				continue
			}
			failed += transactions - *executed.Transfers
			b.tally(&so, executed.Height, transactions, *executed.Transfers)
		}
	}
	if known {
		row.Failed = &failed
	}
	if so != b.last() {
		b.ended = len(b.rows)
	}
	b.rows, b.tallies = append(b.rows, row), append(b.tallies, so)
	return nil
}
