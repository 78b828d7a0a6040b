// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"

	"github.com/shardyard/shardyard/internal/bench/result"
)

const (
	// maxUnsignedPercent is the share of the offered load above which what was not
	// signed is worth a note.
	maxUnsignedPercent = 1

	// maxExecutedPercent is the share of the offered load above which what was
	// executed was not all offered in the same time. One block more or less is
	// within it.
	maxExecutedPercent = 103

	// maxStolenPercent is the share of the machine's processor time above which
	// what a hypervisor took is worth a note.
	maxStolenPercent = 1
)

// notes are what a reader should know of the figures of a run, and of the transfers that
// were due in its measurement.
func notes(run *result.Run, due float64) []string {
	var notes []string
	if note := fixedCountNote(run.FixedCount); note != "" {
		notes = append(notes, note)
	}
	samples := run.MeasuredSamples()
	if len(samples) < 2 {
		return notes
	}
	first, last := &samples[0], &samples[len(samples)-1]
	for _, note := range []string{
		overdueNote(samples, due), heldBackNote(samples, due), exhaustedNote(samples, due), backlogNote(run, samples, due),
		accountingNote(run.Accounting), stolenNote(first, last),
	} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// overdueNote says that the load was less than it should have been.
func overdueNote(samples []result.Sample, due float64) string {
	first, last := &samples[0], &samples[len(samples)-1]
	overdue := increase(first.Overdue, last.Overdue)
	if overdue == nil || due <= 0 {
		return ""
	}
	percent := 100 * float64(*overdue) / due
	if percent <= maxUnsignedPercent {
		return ""
	}
	return fmt.Sprintf("the generators were too late for %.1f%% of the load: they were the limit, and not the chain", percent)
}

// heldBackNote says that the load was more than the chain had room for.
func heldBackNote(samples []result.Sample, due float64) string {
	first, last := &samples[0], &samples[len(samples)-1]
	heldBack := increase(first.HeldBack, last.HeldBack)
	if heldBack == nil || due <= 0 {
		return ""
	}
	percent := 100 * float64(*heldBack) / due
	if percent <= maxUnsignedPercent {
		return ""
	}
	return fmt.Sprintf("the pools had no room for %.1f%% of the load, and it was not signed", percent)
}

// exhaustedNote says that there was no load to speak of from some time on.
func exhaustedNote(samples []result.Sample, due float64) string {
	first, last := &samples[0], &samples[len(samples)-1]
	exhausted := increase(first.Exhausted, last.Exhausted)
	if exhausted == nil || *exhausted == 0 || due <= 0 {
		return ""
	}
	return fmt.Sprintf("the transfers that were signed before were used up, and %.1f%% of the load was not there: "+
		"they were the limit, and not the chain", 100*float64(*exhausted)/due)
}

// backlogNote says that the measurement began with work of the time before.
func backlogNote(run *result.Run, samples []result.Sample, due float64) string {
	var executed uint64
	var milliseconds int64
	for _, block := range run.MeasuredBlocks() {
		executed += block.Executed
	}
	for _, time := range run.MeasuredTimesMs() {
		milliseconds += time
	}
	seconds := float64(samples[len(samples)-1].TimeMs-samples[0].TimeMs) / 1000
	if seconds <= 0 || milliseconds <= 0 {
		return ""
	}
	// Blocks do not begin and end with the samples.
	due *= float64(milliseconds) / 1000 / seconds
	if due <= 0 {
		return ""
	}
	percent := 100 * float64(executed) / due
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
	return fmt.Sprintf("a hypervisor gave %.1f%% of the processor time that was wanted to others", percent)
}
