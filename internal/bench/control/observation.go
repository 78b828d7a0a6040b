// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/shardyard/shardyard/internal/bench"
)

// Observation is a chain as the controller sees it at one time. Counts are totals
// that only grow while nodes run.
type Observation struct {
	At time.Time
	// FinalizedHeight and FinalizedTime are of the last finalised block, and
	// Executed and MissedChunks as of it.
	FinalizedHeight uint64
	FinalizedTime   time.Time
	Executed        uint64
	MissedChunks    uint64
	Shards          int
	// Pooled are the transfers in all pools.
	Pooled uint64
	// Overdue are the transfers that generators were too late for.
	Overdue uint64
}

// silence is how long a node that does not answer is taken to have in its pool what it
// had. Under too much load answers are late for seconds; a node that is silent for longer
// has ended, and what was in its pool with it.
const silence = 30 * time.Second

// Observer makes observations of samples.
type Observer struct {
	// last is what each node said last, for when it does not answer: what it is late
	// for would look new once it does again, and its pool empty until then.
	last map[string]said
}

// said is what one node said at one time.
type said struct {
	at              time.Time
	pooled, overdue uint64
}

// Observe is what a sample says; false when no node answered.
func (o *Observer) Observe(sample bench.Sample, at time.Time) (Observation, bool) {
	best := sample.Best()
	if best == nil {
		return Observation{}, false
	}
	seen := Observation{
		At:              at,
		FinalizedHeight: best.FinalizedHeight,
		FinalizedTime:   time.UnixMilli(best.FinalizedTimeMs),
		Executed:        best.Transfers,
		MissedChunks:    best.MissedChunks,
		Shards:          len(best.Shards),
	}
	o.keep(sample, at)
	for _, said := range o.last {
		seen.Overdue += said.overdue
		if at.Sub(said.at) <= silence {
			seen.Pooled += said.pooled
		}
	}
	return seen, true
}

// keep keeps what the nodes say that answered.
func (o *Observer) keep(sample bench.Sample, at time.Time) {
	if o.last == nil {
		o.last = map[string]said{}
	}
	for _, node := range sample.Nodes {
		if node.Status == nil {
			continue
		}
		now := said{at: at, pooled: node.Status.Pool.Transactions, overdue: o.last[node.Name].overdue}
		if node.Status.Load != nil {
			now.overdue = node.Status.Load.Overdue
		}
		o.last[node.Name] = now
	}
}
