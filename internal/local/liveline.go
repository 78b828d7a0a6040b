// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/local/console"
)

// liveSamples is how many samples the live line looks back, about as many
// seconds: enough for a few blocks, and soon over when the chain stands still.
const liveSamples = 5

// live makes the live line of a run from its latest samples.
type live struct {
	// missedBefore are the chunks that were missed before the run.
	missedBefore uint64
	recent       []bench.Sample
}

// line sums up the chain as of a sample.
func (l *live) line(sample bench.Sample, ready int) string {
	l.recent = append(l.recent, sample)
	l.recent = l.recent[max(len(l.recent)-liveSamples-1, 0):]
	best := sample.Best()
	if best == nil {
		return "no validator answers"
	}

	tps, blockTime := "0", "-"
	if measured, err := bench.Measure(l.recent[0], sample); err == nil {
		tps = console.Thousands(int64(measured.TPS()))
		blockTime = fmt.Sprintf("%d ms", measured.BlockTime().Round(time.Millisecond).Milliseconds())
	}
	// Started again, a node knows of no block until it processes one.
	missed := "-"
	if best.MissedChunks >= l.missedBefore {
		missed = console.Thousands(best.MissedChunks - l.missedBefore)
	}
	return fmt.Sprintf("TPS %s | block time %s | height %s | missed chunks %s | %d of %d validators ready",
		tps, blockTime, console.Thousands(best.FinalizedHeight), missed, ready, len(sample.Nodes))
}
