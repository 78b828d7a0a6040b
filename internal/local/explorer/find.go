// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
)

// genesisPrefix begins the name of a genesis account, before its index.
const genesisPrefix = "genesis/"

// kind is what was found.
type kind string

const (
	kindBlock       kind = "Block"
	kindTransaction kind = "Transaction"
	kindAccount     kind = "Account"
)

// found is where something is.
type found struct {
	Kind kind `json:"kind"`
	// Height is of a block, and of the chunk of a transaction.
	Height uint64 `json:"height,omitempty"`
	// Shard and Position are of a transaction, in its chunk.
	Shard    *int    `json:"shard,omitempty"`
	Position *uint64 `json:"position,omitempty"`
	// Account is an account's id.
	Account string `json:"account,omitempty"`
}

// find tells what a text names: the height of a block, the hash of a transaction,
// an account, or genesis/INDEX for one of genesis.
func (c Chain) find(ctx context.Context, r *http.Request, from node) (any, error) {
	text := strings.TrimSpace(r.URL.Query().Get("text"))
	if index, ok := strings.CutPrefix(text, genesisPrefix); ok {
		return c.findGenesisAccount(index)
	}
	if height, err := strconv.ParseUint(text, 10, 64); err == nil {
		if _, err := from.Block(ctx, height); err != nil {
			return nil, told(err)
		}
		return found{Kind: kindBlock, Height: height}, nil
	}
	hash, err := account.ParseID(text)
	if err != nil {
		return nil, requestError{fmt.Errorf(
			"%q is no height, no hash of a transaction, no account, and not %sINDEX", text, genesisPrefix)}
	}
	return c.findHash(ctx, hash.String(), from)
}

func (c Chain) findGenesisAccount(text string) (any, error) {
	index, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return nil, invalid("index", text)
	}
	if index >= c.Accounts {
		return nil, absentError{fmt.Errorf("genesis has %d accounts, the last one is %s%d", c.Accounts, genesisPrefix, c.Accounts-1)}
	}
	key, err := account.Genesis(c.Seed, uint32(index))
	if err != nil {
		return nil, err
	}
	return found{Kind: kindAccount, Account: account.Of(key).String()}, nil
}

// findHash finds an account or a transaction. Every shard is asked what became of
// the transaction, for its hash does not say whose it is.
func (c Chain) findHash(ctx context.Context, hash string, from node) (any, error) {
	known, err := from.Account(ctx, hash)
	if err != nil {
		return nil, told(err)
	}
	if known.Exists {
		return found{Kind: kindAccount, Account: hash}, nil
	}
	for shard := range c.Shards {
		outcome, err := from.TransferOutcome(ctx, hash, account.LeastOf(shard, c.Shards).String())
		if err != nil {
			return nil, fmt.Errorf("ask shard %d what became of the transaction: %w", shard, told(err))
		}
		if outcome.Status == chain.OutcomeUnknown {
			continue
		}
		position, err := positionIn(ctx, from, outcome.Height, shard, hash)
		if err != nil {
			return nil, err
		}
		return found{Kind: kindTransaction, Height: outcome.Height, Shard: &shard, Position: &position}, nil
	}
	return nil, absentError{fmt.Errorf("no account has the id %s, and none of the transactions whose outcome validators keep that hash", hash)}
}

// positionIn is where a transaction is in the chunk that has it.
func positionIn(ctx context.Context, from node, height uint64, shard int, hash string) (uint64, error) {
	for position := uint64(0); ; {
		chunk, err := from.Chunk(ctx, height, shard, position)
		if err != nil {
			return 0, told(err)
		}
		if len(chunk.Transactions) == 0 {
			return 0, fmt.Errorf("the chunk of shard %d at height %d should have the transaction, and does not", shard, height)
		}
		for _, transaction := range chunk.Transactions {
			if transaction.Hash == hash {
				return position, nil
			}
			position++
		}
	}
}
