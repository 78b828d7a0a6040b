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
	// included has the transfers of chunks that no header commits to the execution
	// of yet.
	included map[chunk]uint64
}

// chunk is one shard's chunk at one height.
type chunk struct {
	shard  int
	height uint64
}

// add takes the next block.
func (b *blocks) add(block *chain.Block) error {
	if count := len(b.rows); count > 0 && b.rows[count-1].Height+1 != block.Height {
		return fmt.Errorf("block %d follows block %d", block.Height, b.rows[count-1].Height)
	}
	row := result.Block{Height: block.Height, TimestampMs: block.TimestampMs, Shards: len(block.Chunks)}
	failed, known := uint64(0), true
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
		}
	}
	if known {
		row.Failed = &failed
	}
	b.rows = append(b.rows, row)
	return nil
}
