// SPDX-License-Identifier: Apache-2.0

package chain

import "context"

// Block is a finalised block.
type Block struct {
	Height      uint64 `json:"height"`
	Hash        string `json:"hash"`
	Parent      string `json:"parent"`
	TimestampMs int64  `json:"timestampMs"`
	// Chunks are the newest headers, by shard.
	Chunks []ChunkHeader `json:"chunks"`
}

// ChunkHeader is what a block says about a shard. It is of an earlier height
// than the block's if the shard missed its chunk.
type ChunkHeader struct {
	Shard  int    `json:"shard"`
	Height uint64 `json:"height"`
	// Transactions is the number of them in the chunk; nil when the node does not
	// tell.
	Transactions *uint64 `json:"transactions,omitempty"`
	// Results are the executions that this header is the first to commit to.
	Results []ExecutionResult `json:"results"`
}

// ExecutionResult is what the execution of one chunk came to.
type ExecutionResult struct {
	Height    uint64 `json:"height"`
	StateRoot string `json:"stateRoot"`
	// Transfers are the transfers that were executed and Credits the credits that
	// were applied; nil when the node does not tell.
	Transfers *uint64 `json:"transfers,omitempty"`
	Credits   *uint64 `json:"credits,omitempty"`
}

// Block asks a node for the finalised block at a height. The error is an
// RPCError when the node has none.
func (c *Client) Block(ctx context.Context, height uint64) (*Block, error) {
	params := struct {
		Height uint64 `json:"height"`
	}{height}
	var block Block
	if err := c.call(ctx, "block_get", params, &block); err != nil {
		return nil, err
	}
	return &block, nil
}
