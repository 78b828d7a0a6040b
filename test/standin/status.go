// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// windowBlocks is how many blocks the figures of a status are over.
const windowBlocks = 40

// status is what a node says of itself and of its network.
func (n *node) status(seen view, load chain.Load) *chain.Status {
	shards := uint64(n.genesis.Shards)
	balance := uint64(n.genesis.Accounts.InitialBalance) * uint64(n.genesis.Accounts.PerShard)
	stakePerShard := n.stake() / shards
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
		Formats:         ptr.To[int32](3),
		PublicKey:       n.publicKey,
		GenesisHash:     n.genesisHash,
		Height:          seen.height,
		FinalizedHeight: seen.finalizedHeight,
		StartedHeight:   min(1, seen.finalizedHeight),
		FinalizedTimeMs: seen.finalizedTimeMs,
		BlockHash:       digest("block", seen.finalizedHeight),
		BlockTimeMs:     float64(n.genesis.Protocol.MinBlockTimeMs),
		TPS:             seen.tps,
		WindowBlocks:    int(min(windowBlocks, seen.finalizedHeight)),
		Transfers:       seen.transfers,
		CrossShard:      seen.transfers - seen.transfers/shards,
		Peers:           seen.nodes - 1,
		Supply:          chain.Supply{Expected: balance * shards, Balances: balance * shards, Conserved: true},
		Pool:            chain.PoolStatus{Capacity: uint64(n.config.Features.MempoolCapacity)},
		// It has no process of its own.
		Memory:  &chain.Memory{},
		Disk:    &chain.Disk{},
		Machine: &chain.Machine{},
		TCP:     n.tcp,
	}
	if seat := n.place().Seat; seat != nil {
		status.Tracked = &chain.TrackedStatus{
			Shard:          seat.Shard,
			ExecutedHeight: seen.finalizedHeight,
			StateRoot:      digest("state", seen.finalizedHeight),
			Accounts:       uint64(n.genesis.Accounts.PerShard),
		}
		status.Copy = &chain.CopyStatus{Complete: true, Missing: []string{}}
		status.Load = &load
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
			EndorsedStake:  stakePerShard,
			MandatedStake:  stakePerShard,
		})
	}
	return status
}

// stake is that of all validators.
func (n *node) stake() (total uint64) {
	for i := range n.genesis.Validators {
		total += uint64(n.genesis.Validators[i].Stake)
	}
	return total
}

// readiness is whether the producers that run are a quorum.
func (n *node) readiness(seen view) chain.Readiness {
	producers := 0
	for i := range n.genesis.Validators {
		if n.genesis.Validators[i].Role == topology.RoleProducer {
			producers++
		}
	}
	if quorum := producers - (producers-1)/3; seen.producers < quorum {
		return chain.Readiness{Reasons: []string{fmt.Sprintf("%d producers run, quorum needs %d", seen.producers, quorum)}}
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
