// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"context"
	"errors"
	"net/http"

	"github.com/shardyard/shardyard/internal/chain"
)

// blocksListed is how many blocks one request lists.
const blocksListed = 20

// listedBlock is a block in a line.
type listedBlock struct {
	Height      uint64 `json:"height"`
	Hash        string `json:"hash"`
	TimestampMs int64  `json:"timestampMs"`
	// Chunks is how many of its shards have a chunk of its height, and Missed how many
	// have none.
	Chunks int `json:"chunks"`
	Missed int `json:"missed"`
	// Transactions are those in its chunks.
	Transactions uint64 `json:"transactions"`
}

func list(block *chain.Block) listedBlock {
	listed := listedBlock{Height: block.Height, Hash: block.Hash, TimestampMs: block.TimestampMs}
	for _, header := range block.Chunks {
		if header.Height != block.Height {
			listed.Missed++
			continue
		}
		listed.Chunks++
		if header.Transactions != nil {
			listed.Transactions += *header.Transactions
		}
	}
	return listed
}

// blocks are the finalised blocks from a height downwards, by default the newest.
func blocks(ctx context.Context, r *http.Request, from node) (any, error) {
	highest, err := numberOf(r, "from", from.finalized)
	if err != nil {
		return nil, err
	}
	listed := []listedBlock{}
	for height := min(highest, from.finalized); height > 0 && len(listed) < blocksListed; height-- {
		block, err := from.Block(ctx, height)
		if _, refused := errors.AsType[*chain.RPCError](err); refused {
			// Those below are not kept either.
			break
		}
		if err != nil {
			return nil, err
		}
		listed = append(listed, list(block))
	}
	return listed, nil
}

// block is a finalised block.
func block(ctx context.Context, r *http.Request, from node) (any, error) {
	height, err := parse("height", r.PathValue("height"))
	if err != nil {
		return nil, err
	}
	block, err := from.Block(ctx, height)
	if err != nil {
		return nil, told(err)
	}
	return block, nil
}
