// SPDX-License-Identifier: Apache-2.0

package chain

import "context"

// Chunk is a chunk of a finalised block, with some of its transactions.
type Chunk struct {
	Header ChunkHeader `json:"header"`
	// From is the position in the chunk of the first of these transactions.
	From uint64 `json:"from"`
	// Transactions are those from there on, at most 1,000.
	Transactions []Transaction `json:"transactions"`
}

// Transaction is a transaction of a chunk. What became of it is its outcome.
type Transaction struct {
	Hash string `json:"hash"`
	// Kind is what it does, in a word.
	Kind string `json:"kind"`
	// Signer is the account that pays, and Receiver the one that is paid.
	Signer   string `json:"signer"`
	Receiver string `json:"receiver"`
	Amount   uint64 `json:"amount"`
	// Nonce is the signer's that it uses.
	Nonce uint64 `json:"nonce"`
	// ExpiresAt is the first height at which it is not executed any more; 0 for none.
	ExpiresAt uint64 `json:"expiresAt"`
	Signature string `json:"signature"`
}

// Chunk asks a node for the chunk of a shard at a height, and for its transactions
// from a position on. The error is an RPCError when the node has none.
func (c *Client) Chunk(ctx context.Context, height uint64, shard int, from uint64) (*Chunk, error) {
	params := struct {
		Height uint64 `json:"height"`
		Shard  int    `json:"shard"`
		From   uint64 `json:"from"`
	}{height, shard, from}
	var chunk Chunk
	if err := c.call(ctx, "chunk_get", params, &chunk); err != nil {
		return nil, err
	}
	return &chunk, nil
}
