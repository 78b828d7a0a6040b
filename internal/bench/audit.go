// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/shardyard/shardyard/internal/chain"
)

// auditedHeights is how far behind the highest block an audit remembers. A node
// that is further behind catches up before it is compared.
const auditedHeights = 10_000

// Audit compares what the nodes of a network tell, at the heights that they
// have in common: finalised blocks, what these commit to, the roots of the
// states that nodes compute themselves, and the supply.
//
// Nodes are asked one after the other, so most answers are about different
// heights. An audit therefore remembers what was told about recent heights.
type Audit struct {
	genesis   told
	blocks    map[uint64]toldBlock
	committed map[execution]told
	tracked   map[execution]toldRoot
	confirmed map[string]uint64
	highest   uint64
}

// told is something that a node told.
type told struct {
	node, value string
}

type toldBlock struct {
	node   string
	hash   string
	totals [sha256.Size]byte
}

// execution is the execution of one shard's chunk.
type execution struct {
	shard  int
	height uint64
}

type toldRoot struct {
	root  string
	nodes []string
}

// NewAudit makes an audit that knows nothing yet.
func NewAudit() *Audit {
	return &Audit{
		blocks:    map[uint64]toldBlock{},
		committed: map[execution]told{},
		tracked:   map[execution]toldRoot{},
		confirmed: map[string]uint64{},
	}
}

// Observe compares a node's status with what was told before. The error is a
// DivergenceError or a SupplyError.
func (a *Audit) Observe(status *chain.Status) error {
	if err := a.observeGenesis(status); err != nil {
		return err
	}
	if err := checkSupply(status); err != nil {
		return err
	}
	if err := a.observeBlock(status); err != nil {
		return err
	}
	for i := range status.Shards {
		shard := &status.Shards[i]
		executed := execution{shard: shard.Shard, height: shard.ExecutedHeight}
		if err := a.observeCommitted(status.Node, executed, shard.StateRoot); err != nil {
			return err
		}
	}
	if status.Tracked != nil {
		if err := a.observeTracked(status.Node, status.Tracked); err != nil {
			return err
		}
	}
	a.forget(status.FinalizedHeight)
	return nil
}

// ObserveBlock compares what the headers of a node's finalised block commit to
// with what was told before. The error is a DivergenceError.
func (a *Audit) ObserveBlock(node string, block *chain.Block) error {
	for _, header := range block.Chunks {
		for _, result := range header.Results {
			executed := execution{shard: header.Shard, height: result.Height}
			if err := a.observeCommitted(node, executed, result.StateRoot); err != nil {
				return err
			}
		}
	}
	return nil
}

// Confirmed is the greatest height whose execution by a node is known to have
// the state root that a finalised header commits to; 0 when none is.
func (a *Audit) Confirmed(node string) uint64 {
	return a.confirmed[node]
}

func (a *Audit) observeGenesis(status *chain.Status) error {
	if a.genesis.node == "" {
		a.genesis = told{node: status.Node, value: status.GenesisHash}
	}
	if a.genesis.value != status.GenesisHash {
		return &DivergenceError{First: a.genesis.node, Second: status.Node, Subject: "genesis hashes " +
			a.genesis.value + " and " + status.GenesisHash}
	}
	return nil
}

// checkSupply does the sum again instead of taking the node's word for it.
func checkSupply(status *chain.Status) error {
	supply := status.Supply
	if expected := new(big.Int).SetUint64(supply.Expected); !supply.Conserved || supply.Sum().Cmp(expected) != 0 {
		return &SupplyError{Node: status.Node, Height: status.FinalizedHeight, Supply: supply}
	}
	return nil
}

func (a *Audit) observeBlock(status *chain.Status) error {
	block := toldBlock{node: status.Node, hash: status.BlockHash, totals: totals(status)}
	known, ok := a.blocks[status.FinalizedHeight]
	if !ok {
		a.blocks[status.FinalizedHeight] = block
		return nil
	}
	if known.hash != block.hash {
		return &DivergenceError{First: known.node, Second: block.node, Subject: fmt.Sprintf(
			"blocks %s and %s are finalised at height %d", known.hash, block.hash, status.FinalizedHeight)}
	}
	if known.totals != block.totals {
		return &DivergenceError{First: known.node, Second: block.node, Subject: fmt.Sprintf(
			"totals as of block %d are not the same", status.FinalizedHeight)}
	}
	return nil
}

// totals is a fingerprint of everything that a status derives from the
// finalised block: kept for many heights, the shards themselves would be large.
func totals(status *chain.Status) [sha256.Size]byte {
	shards := slices.Clone(status.Shards)
	for i := range shards {
		// Of an earlier block when the shard missed its chunk: a node that started
		// since does not know it.
		shards[i].EndorsedStake, shards[i].MandatedStake = 0, 0
	}
	return sha256.Sum256(fmt.Appendf(nil, "%d %d %d %+v %+v",
		status.Transfers, status.CrossShard, status.MissedChunks, status.Supply, shards))
}

func (a *Audit) observeCommitted(node string, executed execution, root string) error {
	if known, ok := a.committed[executed]; ok {
		if known.value != root {
			return rootDivergence(executed, known, told{node: node, value: root})
		}
		return nil
	}
	a.committed[executed] = told{node: node, value: root}
	if known, ok := a.tracked[executed]; ok {
		return a.confirm(executed, known)
	}
	return nil
}

func (a *Audit) observeTracked(node string, tracked *chain.TrackedStatus) error {
	executed := execution{shard: tracked.Shard, height: tracked.ExecutedHeight}
	known, ok := a.tracked[executed]
	if ok && known.root != tracked.StateRoot {
		return rootDivergence(executed, told{node: known.nodes[0], value: known.root},
			told{node: node, value: tracked.StateRoot})
	}
	known.root = tracked.StateRoot
	if !slices.Contains(known.nodes, node) {
		known.nodes = append(known.nodes, node)
	}
	a.tracked[executed] = known
	return a.confirm(executed, known)
}

// confirm compares the root that nodes computed with the one that a header
// commits to, once both are known.
func (a *Audit) confirm(executed execution, tracked toldRoot) error {
	committed, ok := a.committed[executed]
	if !ok {
		return nil
	}
	if committed.value != tracked.root {
		return rootDivergence(executed, committed, told{node: tracked.nodes[0], value: tracked.root})
	}
	for _, node := range tracked.nodes {
		a.confirmed[node] = max(a.confirmed[node], executed.height)
	}
	return nil
}

func rootDivergence(executed execution, first, second told) error {
	return &DivergenceError{First: first.node, Second: second.node, Subject: fmt.Sprintf(
		"state roots of shard %d after height %d are %s and %s",
		executed.shard, executed.height, first.value, second.value)}
}

// forget drops what is too far behind to be compared with anything.
func (a *Audit) forget(finalized uint64) {
	if finalized <= a.highest {
		return
	}
	a.highest = finalized
	if finalized <= auditedHeights {
		return
	}
	old := func(height uint64) bool { return height < finalized-auditedHeights }
	maps.DeleteFunc(a.blocks, func(height uint64, _ toldBlock) bool { return old(height) })
	maps.DeleteFunc(a.committed, func(executed execution, _ told) bool { return old(executed.height) })
	maps.DeleteFunc(a.tracked, func(executed execution, _ toldRoot) bool { return old(executed.height) })
}
