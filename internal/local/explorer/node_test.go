// SPDX-License-Identifier: Apache-2.0

package explorer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/explorer"
)

const (
	// tip is the newest block of the chain of these tests, and kept the oldest that
	// the node still has.
	tip, kept = 30, 4
	// large is the height of the chunk that takes three answers.
	large, largeTransactions = 7, 2_100
	// answered is how many transactions the node answers with.
	answered = 1_000
	shards   = 2
)

// Names of what the chain has: each is 64 hex digits.
var (
	signer   = account.LeastOf(1, shards).String()
	receiver = named(0xbb)
)

func named(number int) string { return fmt.Sprintf("%064x", number) }

// hashOf is the hash of a transaction of the large chunk.
func hashOf(position int) string { return named(1_000_000 + position) }

// params are those of any request.
type params struct {
	Height uint64 `json:"height"`
	Shard  int    `json:"shard"`
	From   int    `json:"from"`
	ID     string `json:"id"`
	Hash   string `json:"hash"`
	Signer string `json:"signer"`
}

// newChain is a chain with one node, which answers as the node contract says.
func newChain(t *testing.T) explorer.Chain {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Method string
			Params params
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		result, refusal := answer(request.Method, request.Params)
		if refusal != nil {
			_ = json.NewEncoder(w).Encode(map[string]any{"error": refusal})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"result": result})
	}))
	t.Cleanup(server.Close)
	client := chain.NewClient(server.Listener.Addr().String(), chain.Admin{})
	t.Cleanup(client.Close)
	return explorer.Chain{
		Shards: shards, Seed: named(1), Accounts: 200,
		Newest: func(context.Context) (*chain.Client, uint64) { return client, tip },
	}
}

func answer(method string, asked params) (any, *chain.RPCError) {
	switch method {
	case "block_get":
		if asked.Height > tip {
			return nil, &chain.RPCError{Code: -32003, Message: fmt.Sprintf("block %d is not finalised yet", asked.Height)}
		}
		if asked.Height < kept {
			return nil, &chain.RPCError{Code: -32003, Message: fmt.Sprintf("block %d is not kept", asked.Height)}
		}
		return blockAt(asked.Height), nil
	case "chunk_get":
		if asked.Height != large || asked.Shard != 1 {
			return nil, &chain.RPCError{Code: -32003, Message: fmt.Sprintf("shard %d has no chunk at height %d", asked.Shard, asked.Height)}
		}
		return largeChunk(asked.From), nil
	case "transfer_outcome":
		// Only the shard of the transaction knows.
		if asked.Hash == hashOf(largeTransactions-1) && asked.Signer == signer {
			return chain.Outcome{Status: chain.OutcomeFailed, Height: large, Reason: "the balance is too low"}, nil
		}
		return chain.Outcome{Status: chain.OutcomeUnknown}, nil
	case "account_get":
		if asked.ID == receiver {
			return chain.Account{ID: receiver, Exists: true, Balance: math.MaxUint64, Nonce: 3, Height: tip}, nil
		}
		return chain.Account{ID: asked.ID, Height: tip}, nil
	default:
		return nil, &chain.RPCError{Code: -32601, Message: "unknown method"}
	}
}

// blockAt is a block in which shard 0 missed its chunk when the height is even.
func blockAt(height uint64) chain.Block {
	transactions := height
	return chain.Block{
		Height: height, Hash: named(int(height)), Parent: named(int(height) - 1), TimestampMs: int64(height) * 1_000,
		Chunks: []chain.ChunkHeader{
			{Shard: 0, Height: height - (height+1)%2, Transactions: &transactions, Results: []chain.ExecutionResult{}},
			{Shard: 1, Height: height, Transactions: &transactions, Results: []chain.ExecutionResult{}},
		},
	}
}

func largeChunk(from int) chain.Chunk {
	chunk := chain.Chunk{From: uint64(from), Transactions: []chain.Transaction{}}
	chunk.Header = blockAt(large).Chunks[1]
	for position := from; position < largeTransactions && len(chunk.Transactions) < answered; position++ {
		chunk.Transactions = append(chunk.Transactions, chain.Transaction{
			Hash: hashOf(position), Kind: "Transfer", Signer: signer, Receiver: receiver, Amount: math.MaxUint64, Nonce: uint64(position),
		})
	}
	return chunk
}
