// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"context"
	"math"
	"net/http"
)

const (
	// transactionsListed is how many transactions of a chunk one request lists, unless
	// it says otherwise.
	transactionsListed = 100
	// maxTransactionsListed is the most, which is the most that a node answers with.
	maxTransactionsListed = 1_000
)

// chunk is a chunk of a finalised block, with some of its transactions.
func chunk(ctx context.Context, r *http.Request, from node) (any, error) {
	height, err := parse("height", r.PathValue("height"))
	if err != nil {
		return nil, err
	}
	shard, err := parse("shard", r.PathValue("shard"))
	if err != nil {
		return nil, err
	}
	if shard > math.MaxUint16 {
		return nil, invalid("shard", r.PathValue("shard"))
	}
	first, err := numberOf(r, "from", 0)
	if err != nil {
		return nil, err
	}
	if first > math.MaxUint32 {
		return nil, invalid("from", r.URL.Query().Get("from"))
	}
	limit, err := numberOf(r, "limit", transactionsListed)
	if err != nil {
		return nil, err
	}
	if limit > maxTransactionsListed {
		return nil, invalid("limit", r.URL.Query().Get("limit"))
	}
	chunk, err := from.Chunk(ctx, height, int(shard), first)
	if err != nil {
		return nil, told(err)
	}
	chunk.Transactions = chunk.Transactions[:min(len(chunk.Transactions), int(limit))]
	return chunk, nil
}
