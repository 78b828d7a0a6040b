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

// Observer makes observations of samples.
type Observer struct {
	// overdue is what each node said last, for when it does not answer: all of it
	// would look new once it does again.
	overdue map[string]uint64
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
	if o.overdue == nil {
		o.overdue = map[string]uint64{}
	}
	for _, node := range sample.Nodes {
		if node.Status == nil {
			continue
		}
		seen.Pooled += node.Status.Pool.Transactions
		if node.Status.Load != nil {
			o.overdue[node.Name] = node.Status.Load.Overdue
		}
	}
	for _, overdue := range o.overdue {
		seen.Overdue += overdue
	}
	return seen, true
}
