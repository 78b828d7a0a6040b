// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"time"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// Count is a fixed count of transfers.
type Count struct {
	// Transfers is how many there are, and Limit how long they may take.
	Transfers uint64
	Limit     time.Duration
	// Refused is what pools had refused before, of other loads.
	Refused uint64
}

// counting follows a fixed count to the block with the last of it.
type counting struct {
	Count
	deadlineMs int64
	// refused is what pools refused of it, as they told last.
	refused uint64
	// last is the number of the block with the last of it, once that is known.
	last *int
	// pending are the samples of which it is not known whether they are of the
	// measurement: a block tells where that ends some time afterwards.
	pending []Sample
}

// NewCounted begins the record of a run whose load begins now, and is measured from then
// on, up to the block whose headers commit to the last of so many transfers.
func NewCounted(count Count, began time.Time, genesisHash string) *Recorder {
	recorder := New(Plan{}, began, genesisHash)
	recorder.run.Window.EndMs = 0
	recorder.counting = &counting{Count: count, deadlineMs: began.Add(count.Limit).UnixMilli()}
	return recorder
}

// LatestMs is when the measurement ends, or the latest that it may while that is not
// known; 0 while it is not known when it is.
func (r *Recorder) LatestMs() int64 {
	if r.counting != nil && !r.Settled() {
		return r.counting.deadlineMs
	}
	return r.run.Window.EndMs
}

// hear takes what nodes told.
func (c *counting) hear(sample *Sample, rejected *uint64) {
	if rejected != nil && *rejected >= c.Refused {
		c.refused = *rejected - c.Refused
	}
	c.pending = append(c.pending, *sample)
}

// end is the time of the block with the last transfer, or the limit if that is over
// without it; 0 while neither is known.
func (c *counting) end(blocks *blocks) int64 {
	at := len(blocks.rows) - 1
	last := blocks.tallies[at]
	if last.executed+last.failed+c.refused < c.Transfers {
		if blocks.rows[at].TimestampMs < c.deadlineMs {
			return 0
		}
		return c.deadlineMs
	}
	if last != (tally{}) {
		// That a pool refused some may be known later than which block had the last of the
		// others.
		at = blocks.ended
	}
	if blocks.rows[at].TimestampMs > c.deadlineMs {
		return c.deadlineMs
	}
	c.last = &at
	return blocks.rows[at].TimestampMs
}

// takePending takes the samples that are known to be of the measurement, and leaves out
// those that are known not to be.
func (r *Recorder) takePending() {
	until := r.run.Window.EndMs
	if !r.Settled() && r.blocks.ended > 0 {
		// It does not end before that.
		until = min(r.blocks.rows[r.blocks.ended].TimestampMs, r.counting.deadlineMs)
	}
	pending := r.counting.pending
	for len(pending) > 0 && (r.Settled() || pending[0].At.UnixMilli() <= until) {
		r.take(&pending[0], until)
		pending = pending[1:]
	}
	r.counting.pending = pending
}

// concludeCount says in a record what became of a fixed count. If not all of it came to
// an end, the run does not count.
func (r *Recorder) concludeCount(run *result.Run, fault string) {
	if r.counting == nil {
		return
	}
	run.Window.EndMs = r.LatestMs()
	run.FixedCount = r.counting.became(&r.blocks)
	if became := run.FixedCount; fault == "" && became.LastHeight == 0 {
		run.Fault = fmt.Sprintf("of %d transfers, %d were executed, %d failed and %d were refused by pools within %s: "+
			"the others had come to no end", became.Transfers, became.Executed, became.Failed, became.Refused, r.counting.Limit)
		if !r.Complete() {
			run.Fault += ", and the chain stood still"
		}
	}
}

// became is what became of it, up to the end of the measurement.
func (c *counting) became(blocks *blocks) *result.FixedCount {
	made := &result.FixedCount{Transfers: c.Transfers, Refused: c.refused}
	var so tally
	for i := range blocks.rows {
		if c.last == nil && blocks.rows[i].TimestampMs > c.deadlineMs || c.last != nil && i > *c.last {
			break
		}
		so = blocks.tallies[i]
	}
	made.Executed, made.Failed = so.executed, so.failed
	if c.last != nil {
		made.LastHeight = blocks.rows[*c.last].Height
	}
	return made
}

// fixedCountNote says that not all of a fixed count was executed, or more than all.
func fixedCountNote(count *result.FixedCount) string {
	switch {
	case count == nil || count.LastHeight == 0 || count.Executed == count.Transfers && count.Ended() == count.Transfers:
		return ""
	case count.Ended() > count.Transfers:
		return fmt.Sprintf("blocks hold the ends of %d transfers, and the load had %d: others sent some meanwhile, "+
			"and the last of the load may have come later", count.Ended(), count.Transfers)
	default:
		return fmt.Sprintf("of %d transfers, %d were executed: %d failed, and %d were refused by pools",
			count.Transfers, count.Executed, count.Failed, count.Refused)
	}
}
