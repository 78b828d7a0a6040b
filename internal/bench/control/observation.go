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

// Observe is what a sample says; false when no node answered.
func Observe(sample bench.Sample, at time.Time) (Observation, bool) {
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
	for _, status := range sample.Answers() {
		seen.Pooled += status.Pool.Transactions
		if status.Load != nil {
			seen.Overdue += status.Load.Overdue
		}
	}
	return seen, true
}
