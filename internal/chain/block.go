// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"encoding/json"
)

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
	// Sequence is how many chunks the shard has had, this one included; 0, and the
	// hashes empty, when the node does not tell.
	Sequence uint64 `json:"sequence,omitempty"`
	// Hash is the header's own, Previous that of the shard's header before it.
	Hash     string `json:"hash,omitempty"`
	Previous string `json:"previous,omitempty"`
	// Anchor is the hash of the finalised block that the newest possible result was
	// computed on.
	Anchor string `json:"anchor,omitempty"`
	// BodyHash is the hash of the body, PartsRoot that of the parts it is coded in.
	BodyHash  string `json:"bodyHash,omitempty"`
	PartsRoot string `json:"partsRoot,omitempty"`
	// BodyBytes is the length of the body; nil when the node does not tell.
	BodyBytes *uint64 `json:"bodyBytes,omitempty"`
	// Transactions is the number of them in the chunk; nil when the node does not
	// tell.
	Transactions *uint64 `json:"transactions,omitempty"`
	// Results are the executions that this header is the first to commit to.
	Results []ExecutionResult `json:"results"`
	// Uncommitted are the heights of the chunks whose execution no header commits to
	// yet.
	Uncommitted []uint64 `json:"uncommitted,omitempty"`
	// Totals are nil when the node does not tell.
	Totals *ShardTotals `json:"totals,omitempty"`
	// Signature is the producer's.
	Signature string `json:"signature,omitempty"`
}

// ExecutionResult is what the execution of one chunk came to.
type ExecutionResult struct {
	Height    uint64 `json:"height"`
	StateRoot string `json:"stateRoot"`
	// OutcomesRoot is of the transactions' outcomes, and ReceiptsRoot of the receipts
	// to all shards; empty when the node does not tell.
	OutcomesRoot string `json:"outcomesRoot,omitempty"`
	ReceiptsRoot string `json:"receiptsRoot,omitempty"`
	// Transfers are the transfers that were executed and Credits the credits that
	// were applied; nil when the node does not tell.
	Transfers *uint64 `json:"transfers,omitempty"`
	Credits   *uint64 `json:"credits,omitempty"`
}

// ShardTotals is all that a shard did since genesis, up to the newest execution
// that its header commits to.
type ShardTotals struct {
	// Height is that of the execution, and StateRoot the state after it.
	Height    uint64 `json:"height"`
	StateRoot string `json:"stateRoot"`
	// CrossShard are those of the transfers whose receiver is of another shard.
	Transfers  uint64 `json:"transfers"`
	CrossShard uint64 `json:"crossShard"`
	Credits    uint64 `json:"credits"`
	// Balance is what all accounts of the shard have.
	Balance uint64 `json:"balance"`
	Burnt   uint64 `json:"burnt"`
	// Sent is the value that left for other shards, and Received what came from them:
	// numbers below 2^128.
	Sent     json.Number `json:"sent"`
	Received json.Number `json:"received"`
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
