// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"sync"
	"time"

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
	return &network{genesis: genesis, rates: map[string]int64{}, countedAt: now}
}

// setRate changes the load of a node that runs.
func (n *network) setRate(node string, rate int64, now time.Time) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.count(now)
	n.rates[node] = rate
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

	blockTimeMs := int64(n.genesis.Protocol.MinBlockTimeMs)
	height := uint64(max(0, now.UnixMilli()-n.genesis.CreatedAtMs) / blockTimeMs)
	finalized := height
	if finalized > 0 {
		finalized--
	}
	return view{
		nodes:           len(n.rates),
		producers:       n.producers(),
		height:          height,
		finalizedHeight: finalized,
		finalizedTimeMs: n.genesis.CreatedAtMs + int64(finalized)*blockTimeMs,
		tps:             float64(n.rate()) * wobble(finalized),
		transfers:       uint64(n.transfers),
	}
}

// wobble makes figures differ a little from block to block, as those of a chain
// do.
func wobble(height uint64) float64 {
	return 1 + (float64(height*37%101)-50)/1000
}
