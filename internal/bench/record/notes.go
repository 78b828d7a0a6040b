// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"

	"github.com/shardyard/shardyard/internal/bench/result"
)

const (
	// minSignedPercent is the share of the offered load below which the generators
	// were what limited a run.
	minSignedPercent = 99

	// maxExecutedPercent is the share of the offered load above which what was
	// executed was not all offered in the same time. One block more or less is
	// within it.
	maxExecutedPercent = 103

	// maxStolenPercent is the share of the machine's processor time above which
	// what a hypervisor took is worth a note.
	maxStolenPercent = 1
)

// notes are what a reader should know of the figures of a run.
func notes(run *result.Run) []string {
	samples := run.MeasuredSamples()
	if len(samples) < 2 {
		return nil
	}
	first, last := &samples[0], &samples[len(samples)-1]
	var notes []string
	for _, note := range []string{limitedNote(first, last), backlogNote(run, last.OfferedPerSecond), stolenNote(first, last)} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// limitedNote says that the load was less than it should have been.
func limitedNote(first, last *result.Sample) string {
	signed := increase(first.Signed, last.Signed)
	offered := float64(last.OfferedPerSecond) * float64(last.TimeMs-first.TimeMs) / 1000
	if signed == nil || offered <= 0 {
		return ""
	}
	percent := 100 * float64(*signed) / offered
	if percent >= minSignedPercent {
		return ""
	}
	return fmt.Sprintf("the generators signed %.1f%% of the load: they were the limit, and not the chain", percent)
}

// backlogNote says that the measurement began with work of the time before.
func backlogNote(run *result.Run, offered int64) string {
	var executed uint64
	var milliseconds int64
	for _, block := range run.MeasuredBlocks() {
		executed += block.Executed
	}
	for _, time := range run.MeasuredTimesMs() {
		milliseconds += time
	}
	if offered <= 0 || milliseconds <= 0 {
		return ""
	}
	percent := 100 * float64(executed) / (float64(offered) * float64(milliseconds) / 1000)
	if percent <= maxExecutedPercent {
		return ""
	}
	return fmt.Sprintf("%.1f%% of the load was executed: the chain had fallen behind before the measurement, "+
		"which a longer warm-up leaves out", percent)
}

// stolenNote says that the machine was not only this one's.
func stolenNote(first, last *result.Sample) string {
	busy := increase(first.HostBusySeconds, last.HostBusySeconds)
	stolen := increase(first.HostStolenSeconds, last.HostStolenSeconds)
	if busy == nil || stolen == nil || *busy+*stolen <= 0 {
		return ""
	}
	percent := 100 * *stolen / (*busy + *stolen)
	if percent <= maxStolenPercent {
		return ""
	}
	return fmt.Sprintf("a hypervisor gave %.1f%% of the processor time that this machine wanted to others", percent)
}
