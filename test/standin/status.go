// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/shardyard/shardyard/internal/chain"
)

// windowBlocks is how many blocks the figures of a status are over.
const windowBlocks = 40

// status is what a node says of itself and of its network.
func (n *node) status(seen view, rate int64) *chain.Status {
	shards := uint64(n.genesis.Shards)
	balance := uint64(n.genesis.Accounts.InitialBalance) * uint64(n.genesis.Accounts.PerShard)
	executed := seen.finalizedHeight
	if executed > 0 {
		executed--
	}

	status := &chain.Status{
		Network:         n.config.Network,
		Node:            n.config.Node,
		Region:          n.config.Region,
		Role:            string(n.config.Role),
		Version:         "stand-in",
		PublicKey:       n.publicKey,
		GenesisHash:     n.genesisHash,
		Height:          seen.height,
		FinalizedHeight: seen.finalizedHeight,
		FinalizedTimeMs: seen.finalizedTimeMs,
		BlockHash:       digest("block", seen.finalizedHeight),
		BlockTimeMs:     float64(n.genesis.Protocol.MinBlockTimeMs),
		TPS:             seen.tps,
		WindowBlocks:    int(min(windowBlocks, seen.finalizedHeight)),
		Transfers:       seen.transfers,
		CrossShard:      seen.transfers - seen.transfers/shards,
		Peers:           seen.nodes - 1,
		Supply:          chain.Supply{Expected: balance * shards, Balances: balance * shards, Conserved: true},
		Tracked: &chain.TrackedStatus{
			Shard:          n.place().Shard,
			ExecutedHeight: seen.finalizedHeight,
			StateRoot:      digest("state", seen.finalizedHeight),
			Accounts:       uint64(n.genesis.Accounts.PerShard),
		},
		Pool: chain.PoolStatus{Capacity: uint64(n.config.Features.MempoolCapacity)},
		Load: &chain.Load{TransfersPerSecond: rate},
		TCP:  n.tcp,
	}
	for shard := range n.genesis.Shards {
		status.Shards = append(status.Shards, chain.ShardStatus{
			Shard:          shard,
			ChunkHeight:    seen.finalizedHeight,
			ExecutedHeight: executed,
			StateRoot:      digest("state", executed),
			Transfers:      seen.transfers / shards,
			Credits:        seen.transfers / shards,
			CrossShard:     (seen.transfers - seen.transfers/shards) / shards,
			Balance:        balance,
		})
	}
	return status
}

// readiness is whether a node has the peers that a quorum needs.
func (n *node) readiness(seen view) chain.Readiness {
	quorum := len(n.genesis.Validators) - (len(n.genesis.Validators)-1)/3
	if seen.nodes < quorum {
		return chain.Readiness{Reasons: []string{
			fmt.Sprintf("connected to %d peers, quorum needs %d", seen.nodes-1, quorum-1),
		}}
	}
	if seen.finalizedHeight == 0 {
		return chain.Readiness{Reasons: []string{"no block is finalised yet"}}
	}
	return chain.Readiness{Ready: true, Reasons: []string{}}
}

func digest(what string, height uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", what, height))
	return hex.EncodeToString(sum[:])
}
