// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

// network is what the nodes of one genesis document agree on.
type network struct {
	genesis nodeconfig.Genesis

	lock sync.Mutex
	// rates are the loads of the nodes that run, by name.
	rates map[string]int64
	// transfers is their sum over the time until countedAt.
	transfers float64
	countedAt time.Time
	// totals are the transfers until blocks that somebody asked for: what a node told
	// of a block, all tell.
	totals map[uint64]uint64
	// loaded is when each node was first told to sign anything, by name.
	loaded map[string]time.Time
}

// networks are all that there are, by the hash of their genesis documents.
type networks struct {
	lock      sync.Mutex
	byGenesis map[string]*network
}

// of is the network that a node belongs to.
func (n *networks) of(node *node, now time.Time) *network {
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.byGenesis[node.genesisHash] == nil {
		n.byGenesis[node.genesisHash] = newNetwork(node.genesis, now)
	}
	return n.byGenesis[node.genesisHash]
}

// view is a network at one time.
type view struct {
	nodes           int
	producers       int
	height          uint64
	finalizedHeight uint64
	finalizedTimeMs int64
	tps             float64
	transfers       uint64
}

func newNetwork(genesis nodeconfig.Genesis, now time.Time) *network {
	return &network{
		genesis: genesis, rates: map[string]int64{}, countedAt: now,
		totals: map[uint64]uint64{}, loaded: map[string]time.Time{},
	}
}

// setRate changes the load of a node that runs.
func (n *network) setRate(node string, rate int64, now time.Time) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.count(now)
	n.rates[node] = rate
	if _, before := n.loaded[node]; rate > 0 && !before {
		n.loaded[node] = now
	}
}

// loading is how many nodes were told to sign something, and how long after the first
// the last one was.
func (n *network) loading() (nodes int, spread time.Duration) {
	n.lock.Lock()
	defer n.lock.Unlock()
	var first, last time.Time
	for _, at := range n.loaded {
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return len(n.loaded), last.Sub(first)
}

// stop takes a node away.
func (n *network) stop(node string, now time.Time) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.count(now)
	delete(n.rates, node)
}

// count adds the transfers since the last count.
func (n *network) count(now time.Time) {
	n.transfers += float64(n.rate()) * now.Sub(n.countedAt).Seconds()
	n.countedAt = now
}

func (n *network) rate() (total int64) {
	for _, rate := range n.rates {
		total += rate
	}
	return total
}

// producers counts the producers that run.
func (n *network) producers() (count int) {
	for i := range n.genesis.Validators {
		validator := &n.genesis.Validators[i]
		if _, runs := n.rates[validator.Name]; runs && validator.Role == topology.RoleProducer {
			count++
		}
	}
	return count
}

// at is the network as all of its nodes see it.
func (n *network) at(now time.Time) view {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.count(now)

	height := uint64(max(0, now.UnixMilli()-n.genesis.CreatedAtMs) / int64(n.genesis.Protocol.MinBlockTimeMs))
	finalized := before(height)
	if _, told := n.totals[finalized]; !told {
		n.totals[finalized] = uint64(n.transfers)
	}
	return view{
		nodes:           len(n.rates),
		producers:       n.producers(),
		height:          height,
		finalizedHeight: finalized,
		finalizedTimeMs: n.timeOf(finalized),
		tps:             float64(n.rate()) * wobble(finalized),
		transfers:       n.total(before(finalized)),
	}
}

// before is the height before another one.
func before(height uint64) uint64 { return max(height, 1) - 1 }

// timeOf is the timestamp of a block.
func (n *network) timeOf(height uint64) int64 {
	return n.genesis.CreatedAtMs + int64(height)*int64(n.genesis.Protocol.MinBlockTimeMs)
}

// total are the transfers in the blocks up to one that is finalised. Blocks that nobody
// asked for in time have none.
func (n *network) total(height uint64) uint64 {
	for known := height; ; known-- {
		total, told := n.totals[known]
		if told || known == 0 {
			n.totals[height] = total
			return total
		}
	}
}

// block is a finalised block: each commits to the transfers of the one before. False
// when it is not finalised yet.
func (n *network) block(height uint64, now time.Time) (*chain.Block, bool) {
	if height > n.at(now).finalizedHeight {
		return nil, false
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	included := n.total(height) - n.total(before(height))
	executed := n.total(before(height)) - n.total(before(before(height)))
	block := &chain.Block{
		Height: height, Hash: digest("block", height), Parent: digest("block", before(height)), TimestampMs: n.timeOf(height),
	}
	for shard := range n.genesis.Shards {
		included, executed := share(included, shard, n.genesis.Shards), share(executed, shard, n.genesis.Shards)
		block.Chunks = append(block.Chunks, chain.ChunkHeader{
			Shard: shard, Height: height, Transactions: &included,
			Results: []chain.ExecutionResult{{
				Height: before(height), StateRoot: digest("state", before(height)), Transfers: &executed, Credits: &executed,
			}},
		})
	}
	return block, true
}

// share is what is one shard's of a count, all of which is somebody's.
func share(count uint64, shard, shards int) uint64 {
	return count*uint64(shard+1)/uint64(shards) - count*uint64(shard)/uint64(shards)
}

// wobble makes figures differ a little from block to block, as those of a chain
// do.
func wobble(height uint64) float64 {
	return 1 + (float64(height*37%101)-50)/1000
}
