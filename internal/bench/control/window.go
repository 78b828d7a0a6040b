// SPDX-License-Identifier: Apache-2.0

package control

import "time"

// windowBlocks is how many blocks what is measured is of: enough that one that is
// late does not count for all, and few against the time in which the rate changes.
const windowBlocks = 3

// window are the latest observations, each with a block that those before have not.
type window struct {
	seen []Observation
}

// add takes an observation. It says whether there is a new block.
func (w *window) add(observation Observation) bool {
	if count := len(w.seen); count > 0 && observation.FinalizedHeight <= w.seen[count-1].FinalizedHeight {
		return false
	}
	w.seen = append(w.seen, observation)
	for len(w.seen) > 2 && observation.FinalizedHeight-w.seen[1].FinalizedHeight >= windowBlocks {
		w.seen = w.seen[1:]
	}
	return true
}

// full says that there are enough blocks.
func (w *window) full() bool {
	return w.blocks() >= windowBlocks
}

func (w *window) blocks() uint64 {
	if len(w.seen) < 2 {
		return 0
	}
	return w.last().FinalizedHeight - w.seen[0].FinalizedHeight
}

func (w *window) last() *Observation { return &w.seen[len(w.seen)-1] }

func (w *window) span() time.Duration {
	return w.last().FinalizedTime.Sub(w.seen[0].FinalizedTime)
}

// blockTime is the mean of a window that is full.
func (w *window) blockTime() time.Duration {
	return w.span() / time.Duration(w.blocks())
}

// executedPerSecond is the rate of a window that is full.
func (w *window) executedPerSecond() float64 {
	first, last := w.seen[0].Executed, w.last().Executed
	if last < first || w.span() <= 0 {
		return 0
	}
	return float64(last-first) / w.span().Seconds()
}

// missed is the share of chunks that a window that is full has not.
func (w *window) missed() float64 {
	first, last := w.seen[0].MissedChunks, w.last().MissedChunks
	chunks := w.blocks() * uint64(w.last().Shards)
	if last < first || chunks == 0 {
		return 0
	}
	return float64(last-first) / float64(chunks)
}

// overdue are the transfers that generators were too late for in a window.
func (w *window) overdue() float64 {
	first, last := w.seen[0].Overdue, w.last().Overdue
	if last < first {
		return 0
	}
	return float64(last - first)
}
