// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/proof"
)

const (
	// atATime is how many requests are answered at a time, and searchesAtATime how
	// many searches, each of which is many requests of a node. More wait: a node has
	// others to answer too.
	atATime         = 4
	searchesAtATime = 1

	// proofsAtATime is how many proofs are asked for: a node may have to wait for the
	// block that one is against.
	proofsAtATime = 1

	// patience is how long a request may take, the wait for its turn included.
	patience = 20 * time.Second
)

// Chain is a chain that can be looked at.
type Chain struct {
	// Shards is how many it has.
	Shards int
	// Seed is what its genesis accounts are derived from, and Accounts how many.
	Seed     string
	Accounts uint64
	// Verifier believes what the network's genesis document says of it alone.
	Verifier *proof.Verifier
	// Newest is a client of a node that has the newest finalised block, and the height
	// of that block; nil while no node answers.
	Newest func(context.Context) (*chain.Client, uint64)
}

// Handler answers, with JSON, GET requests for
//
//	/blocks?from=HEIGHT                          finalised blocks from a height downwards, by default the newest
//	/blocks/HEIGHT                               a block and its chunk headers
//	/chunks/HEIGHT/SHARD?from=POSITION&limit=N   a chunk, and N of its transactions
//	/outcomes/HASH?signer=ACCOUNT                what became of a transaction
//	/outcomes/HASH/proof?signer=ACCOUNT          the same, and the block that it was proven against
//	/accounts/ACCOUNT                            an account
//	/accounts/ACCOUNT/proof                      the same, and the block that it was proven against
//	/find?text=TEXT                              where to find what somebody has a height, a hash or an account of
//
// Heights, hashes and the rest are answered as a node has them, and what a proof is
// asked for is checked. The status is 400
// for what makes no sense, 404 for what the node does not have, 502 when it does
// not answer as it should, and 503 when no node answers.
func (c Chain) Handler() http.Handler {
	mux := http.NewServeMux()
	turns, searches, proofs := make(chan struct{}, atATime), make(chan struct{}, searchesAtATime), make(chan struct{}, proofsAtATime)
	serve := func(pattern string, turns chan struct{}, answer answerer) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			content, err := c.answer(r, turns, answer)
			if err != nil {
				http.Error(w, err.Error(), statusOf(err))
				return
			}
			w.Header().Set("Content-Type", "application/json")
			// Whoever does not wait for the answer does not need it.
			_, _ = w.Write(content)
		})
	}
	serve("/blocks", turns, blocks)
	serve("/blocks/{height}", turns, block)
	serve("/chunks/{height}/{shard}", turns, chunk)
	serve("/outcomes/{hash}", turns, outcome)
	serve("/outcomes/{hash}/proof", proofs, c.proveOutcome)
	serve("/accounts/{id}", turns, accountOf)
	serve("/accounts/{id}/proof", proofs, c.proveAccount)
	serve("/find", searches, c.find)
	return mux
}

// answerer answers a request from what a node says.
type answerer func(ctx context.Context, r *http.Request, from node) (any, error)

// node is the node that is asked.
type node struct {
	*chain.Client

	// finalized is the height of its newest finalised block.
	finalized uint64
}

// answer answers a request in its turn.
func (c Chain) answer(r *http.Request, turns chan struct{}, answer answerer) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		return nil, errBusy
	}
	client, finalized := c.Newest(ctx)
	if client == nil {
		return nil, errNobody
	}
	value, err := answer(ctx, r, node{client, finalized})
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

var (
	errBusy   = errors.New("too many ask at the same time")
	errNobody = errors.New("no validator answers")
)
