// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"math"
	"sort"
	"time"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/statistics"
	"github.com/shardyard/shardyard/internal/topology"
)

// blockRates makes a row of each measured block: a count, and the seconds since
// the block before, or the beginning of a fixed count. A run in which one count is not known has no rows.
func blockRates(count func(*result.Block) *uint64) func(*result.Run) []statistics.Row {
	return func(run *result.Run) []statistics.Row {
		blocks, times := run.MeasuredBlocks(), run.MeasuredSpansMs()
		rows := make([]statistics.Row, len(blocks))
		for i := range blocks {
			counted := count(&blocks[i])
			if counted == nil {
				return nil
			}
			rows[i] = statistics.Row{Quantity: float64(*counted), By: float64(times[i]) / 1000}
		}
		return rows
	}
}

// completion makes a row of each measured block of a fixed count: the seconds that it
// took, and its part of all that was executed. All of them together are the seconds of
// one run.
func completion(run *result.Run) []statistics.Row {
	if run.FixedCount == nil || run.FixedCount.LastHeight == 0 || run.FixedCount.Executed == 0 {
		return nil
	}
	rows := blockRates(func(block *result.Block) *uint64 { return &block.Executed })(run)
	var all float64
	for i := range rows {
		all += rows[i].Quantity
	}
	for i, row := range rows {
		rows[i] = statistics.Row{Quantity: row.By, By: row.Quantity / all}
	}
	return rows
}

// held makes one row of the rate that a run's search found.
func held(run *result.Run) []statistics.Row {
	if run.Search == nil || run.Search.HeldPerSecond == 0 {
		return nil
	}
	return []statistics.Row{{Quantity: float64(run.Search.HeldPerSecond), By: 1}}
}

// executedOfHeld makes a row of each measured block: what it executed in percent,
// and what the rate that a search found comes to in its block time.
func executedOfHeld(run *result.Run) []statistics.Row {
	if held(run) == nil {
		return nil
	}
	rows := blockRates(func(block *result.Block) *uint64 { return &block.Executed })(run)
	for i := range rows {
		rows[i].Quantity *= 100
		rows[i].By *= float64(run.Search.HeldPerSecond)
	}
	return rows
}

// succeeded makes one row of the last step of users: how many of their transfers
// were executed in percent, and how many were offered.
func succeeded(run *result.Run) []statistics.Row {
	step := run.OpenLoop.Last()
	if step == nil {
		return nil
	}
	return []statistics.Row{{Quantity: 100 * float64(step.Transfers.Executed), By: float64(step.Transfers.Offered)}}
}

// clientLatency makes one row of the last step of users, if anything of it was
// executed.
func clientLatency(of func(*result.Latency) float64) func(*result.Run) []statistics.Row {
	return func(run *result.Run) []statistics.Row {
		step := run.OpenLoop.Last()
		if step == nil || step.ExecutedMs.Count == 0 {
			return nil
		}
		return []statistics.Row{{Quantity: of(&step.ExecutedMs), By: 1}}
	}
}

// kneeUsers makes one row of the most users that the chain carries.
func kneeUsers(run *result.Run) []statistics.Row {
	if run.OpenLoop == nil || run.OpenLoop.KneeUsers == 0 {
		return nil
	}
	return []statistics.Row{{Quantity: float64(run.OpenLoop.KneeUsers), By: 1}}
}

// executedOfBest makes a row of each measured block: what it executed in percent, and
// what was executed in as much time with the users of whom most was.
func executedOfBest(run *result.Run) []statistics.Row {
	best := run.OpenLoop.Best()
	if best == nil {
		return nil
	}
	rows := blockRates(func(block *result.Block) *uint64 { return &block.Executed })(run)
	for i := range rows {
		rows[i].Quantity *= 100
		rows[i].By *= *best.ExecutedPerSecond
	}
	return rows
}

// offeredRows are what was asked of generators, or was due of the last step of users. Of
// a fixed count, they are asked for no rate.
func offeredRows(run *result.Run) []statistics.Row {
	switch step := run.OpenLoop.Last(); {
	case step != nil:
		return []statistics.Row{{Quantity: step.OfferedPerSecond, By: 1}}
	case run.FixedCount != nil:
		return nil
	default:
		return sampleRows(offered, seconds)(run)
	}
}

// acceptedRows are what pools took from generators, or of the last step of users.
func acceptedRows(run *result.Run) []statistics.Row {
	step := run.OpenLoop.Last()
	if step == nil {
		return sampleRows(accepted, seconds)(run)
	}
	return []statistics.Row{{Quantity: step.AcceptedPerSecond, By: 1}}
}

// blockTimes makes a row of each measured block: its block time in milliseconds.
func blockTimes(run *result.Run) []statistics.Row {
	times := run.MeasuredTimesMs()
	rows := make([]statistics.Row, len(times))
	for i, time := range times {
		rows[i] = statistics.Row{Quantity: float64(time), By: 1}
	}
	return rows
}

// blockSwings makes a row of each two measured blocks that follow each other: by
// how many transfers they differ, in percent of those of the second. All of them
// together are in percent of the mean.
func blockSwings(run *result.Run) []statistics.Row {
	blocks := run.MeasuredBlocks()
	var rows []statistics.Row
	for i := 1; i < len(blocks); i++ {
		before, after := float64(blocks[i-1].Included), float64(blocks[i].Included)
		rows = append(rows, statistics.Row{Quantity: 100 * math.Abs(after-before), By: after})
	}
	return rows
}

// missedChunks makes a row of each measured block: what it misses in percent, of
// the chunks that it could have had.
func missedChunks(run *result.Run) []statistics.Row {
	blocks := run.MeasuredBlocks()
	rows := make([]statistics.Row, len(blocks))
	for i := range blocks {
		rows[i] = statistics.Row{Quantity: 100 * float64(blocks[i].MissedChunks), By: float64(blocks[i].Shards)}
	}
	return rows
}

// memory makes a row of each sample of the measurement that tells it. It is not known of
// a run that does not tell it at both ends, or for longer than anybody could guess it.
func memory(run *result.Run) []statistics.Row {
	samples := run.MeasuredSamples()
	var rows []statistics.Row
	told := -1
	for i := range samples {
		if samples[i].MemoryBytes == nil {
			continue
		}
		if told != i-1 && (told < 0 || samples[i].TimeMs-samples[told].TimeMs > mostUntold.Milliseconds()) {
			return nil
		}
		rows = append(rows, statistics.Row{Quantity: float64(*samples[i].MemoryBytes) / mebibyte, By: 1})
		told = i
	}
	if told != len(samples)-1 {
		return nil
	}
	return rows
}

// mostUntold is for how long the memory may not be told in the middle of a run.
const mostUntold = 10 * time.Second

// peakMemory is memory of a run that tells it in all samples: in one that does not, it
// may have been the most.
func peakMemory(run *result.Run) []statistics.Row {
	rows := memory(run)
	if len(rows) < len(run.MeasuredSamples()) {
		return nil
	}
	return rows
}

// step is what lies between two samples.
type step struct {
	first, last *result.Sample
	// executed are the transfers that were executed in between.
	executed float64
}

// sampleRows makes a row of each step between two samples of the measurement of which
// both quantities are known: those that follow each other, but for samples in between that
// lack one. Counters lose nothing by that. A run whose first or last sample lacks one has
// no rows, and neither has one in which a counter fell.
func sampleRows(quantity, by func(step) (float64, bool)) func(*result.Run) []statistics.Row {
	return func(run *result.Run) []statistics.Row {
		samples := run.MeasuredSamples()
		executed, executedAt := make([]float64, len(samples)), executedBy(run.Blocks)
		for i := range samples {
			executed[i] = executedAt(samples[i].TimeMs)
		}
		var rows []statistics.Row
		first := 0
		for last := 1; last < len(samples); last++ {
			step := step{first: &samples[first], last: &samples[last], executed: executed[last] - executed[first]}
			quantity, known := quantity(step)
			by, alsoKnown := by(step)
			if !known || !alsoKnown {
				continue
			}
			if math.IsNaN(quantity) || math.IsNaN(by) {
				return nil
			}
			rows = append(rows, statistics.Row{Quantity: quantity, By: by})
			first = last
		}
		if first != len(samples)-1 {
			return nil
		}
		return rows
	}
}

// executedBy tells how many transfers had been executed at a time. Nodes work on a
// block over all of its block time, so between the timestamps of two blocks, what
// the second one commits to counts in proportion.
func executedBy(blocks []result.Block) func(timeMs int64) float64 {
	totals := make([]float64, len(blocks))
	for i := 1; i < len(blocks); i++ {
		totals[i] = totals[i-1] + float64(blocks[i].Executed)
	}
	return func(timeMs int64) float64 {
		next := sort.Search(len(blocks), func(i int) bool { return blocks[i].TimestampMs > timeMs })
		if next == 0 {
			return 0
		}
		executed := totals[next-1]
		if next < len(blocks) {
			begin, end := blocks[next-1].TimestampMs, blocks[next].TimestampMs
			executed += float64(timeMs-begin) / float64(end-begin) * float64(blocks[next].Executed)
		}
		return executed
	}
}

func seconds(step step) (float64, bool) {
	return float64(step.last.TimeMs-step.first.TimeMs) / 1000, true
}

func executed(step step) (float64, bool) {
	return step.executed, true
}

func offered(step step) (float64, bool) {
	elapsed, _ := seconds(step)
	return float64(step.first.OfferedPerSecond) * elapsed, true
}

func accepted(step step) (float64, bool) {
	signed, known := rise(step.first.Signed, step.last.Signed)
	if !known {
		return 0, false
	}
	rejected, known := rise(step.first.Rejected, step.last.Rejected)
	return signed - rejected, known
}

func cpuSeconds(step step) (float64, bool) {
	return rise(step.first.CPUSeconds, step.last.CPUSeconds)
}

func cpuMicroseconds(step step) (float64, bool) {
	seconds, known := cpuSeconds(step)
	return 1e6 * seconds, known
}

// cpuMicrosecondsOf is what the nodes of one role used.
func cpuMicrosecondsOf(role topology.Role) func(step) (float64, bool) {
	return func(step step) (float64, bool) {
		first, knownFirst := step.first.CPUSecondsByRole[string(role)]
		last, knownLast := step.last.CPUSecondsByRole[string(role)]
		if !knownFirst || !knownLast {
			return 0, false
		}
		seconds, known := rise(&first, &last)
		return 1e6 * seconds, known
	}
}

func diskWritten(step step) (float64, bool) {
	return rise(step.first.DiskWrittenBytes, step.last.DiskWrittenBytes)
}

func stolenPercent(step step) (float64, bool) {
	seconds, known := rise(step.first.HostStolenSeconds, step.last.HostStolenSeconds)
	return 100 * seconds, known
}

func hostWork(step step) (float64, bool) {
	if step.last.HostWorkMicroseconds == nil {
		return 0, false
	}
	return *step.last.HostWorkMicroseconds, true
}

func once(step) (float64, bool) { return 1, true }

// wanted is the processor time that programs of the machine had or were refused.
func wanted(step step) (float64, bool) {
	stolen, known := rise(step.first.HostStolenSeconds, step.last.HostStolenSeconds)
	if !known {
		return 0, false
	}
	busy, known := rise(step.first.HostBusySeconds, step.last.HostBusySeconds)
	return busy + stolen, known
}

// rise is by how much a counter rose; false when that is not known, and no number when it
// fell.
func rise[Number uint64 | float64](first, last *Number) (float64, bool) {
	switch {
	case first == nil || last == nil:
		return 0, false
	case *last < *first:
		return math.NaN(), true
	default:
		return float64(*last - *first), true
	}
}
