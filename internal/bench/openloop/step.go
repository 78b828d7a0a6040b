// SPDX-License-Identifier: Apache-2.0

package openloop

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// Plan says what a loader was told.
type Plan struct {
	Users int32
	// WarmUp and Duration are how long transfers are due, and of that, how long
	// rates are left out and how long they are measured.
	WarmUp, Duration time.Duration
}

// Step is what a loader that has ended says of its users. Blocks are known later.
func Step(plan Plan, document *Document) (result.OpenLoopStep, error) {
	transfers := document.transfers()
	if ends := transfers.Executed + failures(&transfers); ends != transfers.Offered {
		return result.OpenLoopStep{}, fmt.Errorf(
			"of %d transfers that were offered, the loader knows the end of %d: its counts are wrong", transfers.Offered, ends)
	}
	began := document.StartedAtMs
	window := result.Window{
		BeginMs: began + plan.WarmUp.Milliseconds(),
		EndMs:   began + (plan.WarmUp + plan.Duration).Milliseconds(),
	}
	step := result.OpenLoopStep{
		Users:      plan.Users,
		BeganMs:    began,
		EndedMs:    window.EndMs,
		Transfers:  transfers,
		Window:     window,
		AcceptedMs: document.AcceptedMs,
		ExecutedMs: document.ExecutedMs,
		Saturation: document.Saturation,
	}
	var offered, accepted, told uint64
	for second := int(plan.WarmUp / time.Second); second < min(len(document.Seconds), int((plan.WarmUp+plan.Duration)/time.Second)); second++ {
		counted := &document.Seconds[second]
		offered, accepted, told = offered+counted.Offered, accepted+counted.Accepted, told+counted.Executed
	}
	if seconds := plan.Duration.Seconds(); seconds > 0 {
		step.OfferedPerSecond = float64(offered) / seconds
		step.AcceptedPerSecond = float64(accepted) / seconds
		step.ToldPerSecond = float64(told) / seconds
	}
	return step, nil
}

func failures(transfers *result.ClientTransfers) (sum uint64) {
	for _, failure := range transfers.Failures() {
		sum += failure.Transfers
	}
	return sum
}

// Describe says what became of the transfers of a step, in a line.
func Describe(step *result.OpenLoopStep) string {
	transfers := &step.Transfers
	words := fmt.Sprintf("of %d transfers of %d users, pools accepted %d, and %d were executed (%.1f%%)",
		transfers.Offered, step.Users, transfers.Accepted, transfers.Executed, transfers.SuccessPercent())
	if transfers.Executed > 0 {
		words += fmt.Sprintf(", half of them within %.0f ms and 99 in 100 within %.0f ms", step.ExecutedMs.P50, step.ExecutedMs.P99)
	}
	if classes := Classes(transfers.Failures()); classes != "" {
		words += "; " + classes
	}
	if step.Saturation.Saturated && !step.Holds() {
		words += "; THE LOADER, NOT THE CHAIN, WAS THE LIMIT"
	}
	return words
}

// Classes lists transfers that were not executed, by class.
func Classes(failures []result.Failure) string {
	words := make([]string, 0, len(failures))
	for _, failure := range failures {
		words = append(words, fmt.Sprintf("%s %d", failure.Class(), failure.Transfers))
	}
	return strings.Join(words, ", ")
}
