// SPDX-License-Identifier: Apache-2.0

package openloop

import (
	"fmt"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// fallPercent is by how much fewer transfers must be executed for more users to say
// that success falls. Two steps that are alike are not exactly so.
const fallPercent = 5

const (
	// requestsPerSecond is what a node answers at most, whoever asks.
	requestsPerSecond = 1000
	// requestsShare is how much of that transfers have who want all of it: users ask
	// what became of them, too.
	requestsShare = 0.9
)

// Conclude holds what clients saw of a run against its blocks, and puts both into
// it. There is a document for each step. The error is a contradiction.
func Conclude(run *result.Run, made *result.OpenLoop, documents []*Document) error {
	run.OpenLoop = made
	var contradiction error
	for i := range made.Steps {
		step := &made.Steps[i]
		if rate, known := run.ExecutedPerSecond(step.Window); known {
			step.ExecutedPerSecond = &rate
		}
		step.ExecutedInBlocks = executedIn(run.Blocks, documents[i].Blocks)
		if held := step.ExecutedInBlocks; held != nil && *held < step.Transfers.Executed && contradiction == nil {
			contradiction = fmt.Errorf("the loader of %d users was told that %d of their transfers are executed, "+
				"and the blocks of that time hold %d", step.Users, step.Transfers.Executed, *held)
		}
	}
	if knee := made.Knee(); knee != nil {
		made.KneeUsers = knee.Users
	}
	run.Notes = append(run.Notes, notes(made)...)
	return contradiction
}

// executedIn are the transfers that the blocks of a range commit as executed; nil if
// one of the blocks is not known.
func executedIn(blocks []result.Block, of *blockRange) *uint64 {
	if of == nil || of.LastHeight < of.FirstHeight {
		return nil
	}
	var executed, known uint64
	for i := range blocks {
		if height := blocks[i].Height; height > of.FirstHeight && height <= of.LastHeight {
			executed += blocks[i].Executed
			known++
		}
	}
	if known != of.LastHeight-of.FirstHeight {
		return nil
	}
	return &executed
}

// notes are what a reader should know of what clients saw.
func notes(made *result.OpenLoop) []string {
	var notes []string
	for i := range made.Steps {
		step := &made.Steps[i]
		if note := saturationNote(step); note != "" {
			notes = append(notes, note)
		}
		if note := requestsNote(made, step); note != "" {
			notes = append(notes, note)
		}
		if held := step.ExecutedInBlocks; held != nil && *held > step.Transfers.Executed {
			notes = append(notes, fmt.Sprintf("of %d users, blocks executed %d transfers that the loader was not told of",
				step.Users, *held-step.Transfers.Executed))
		}
	}
	if len(made.Steps) == 0 {
		return notes
	}
	return append(notes, kneeNote(made), fallNote(made))
}

// saturationNote says that the loader was late, and whether that can be why fewer
// transfers were executed; empty if it was not.
func saturationNote(step *result.OpenLoopStep) string {
	if !step.Saturation.Saturated {
		return ""
	}
	words := fmt.Sprintf("%d transfers were sent late because of it, and it used %.1f s of the processors",
		step.Saturation.MissedTicks, step.Saturation.CPUSeconds)
	if step.Holds() {
		return fmt.Sprintf("the loader was late with %d users, and their latencies are partly its own: %s", step.Users, words)
	}
	return fmt.Sprintf("THE LOADER, NOT THE CHAIN, WAS THE LIMIT with %d users: %s", step.Users, words)
}

// requestsNote says that the nodes took as many requests as they take of clients, who
// had more to send; empty if they did not.
func requestsNote(made *result.OpenLoop, step *result.OpenLoopStep) string {
	most := float64(made.Nodes * requestsPerSecond)
	if step.Holds() || step.Transfers.Unsent == 0 || step.AcceptedPerSecond < requestsShare*most {
		return ""
	}
	return fmt.Sprintf("with %d users, the nodes that they talk to were the limit, with the requests that these answer: "+
		"%.0f transfers per second were accepted, of %d requests a second that each of %d answers at most",
		step.Users, step.AcceptedPerSecond, requestsPerSecond, made.Nodes)
}

// kneeNote says up to how many users the chain carries what they send.
func kneeNote(made *result.OpenLoop) string {
	knee := made.Knee()
	if knee == nil {
		return fmt.Sprintf("no number of users holds: of none were %d%% of what they sent executed", result.KneePercent)
	}
	words := fmt.Sprintf("the knee is at %d users, of the numbers that were tried: %.1f%% of what they sent was executed",
		knee.Users, knee.Transfers.SuccessPercent())
	if above := next(made, knee.Users); above != nil {
		return words + fmt.Sprintf(", and %.1f%% with %d users", above.Transfers.SuccessPercent(), above.Users)
	}
	return words + ", and nobody tried more"
}

// next is the step with the fewest users of those with more; nil if there is none.
func next(made *result.OpenLoop, users int32) *result.OpenLoopStep {
	var above *result.OpenLoopStep
	for i := range made.Steps {
		if step := &made.Steps[i]; step.Users > users && (above == nil || step.Users < above.Users) {
			above = step
		}
	}
	return above
}

// fallNote says whether more users have less success.
func fallNote(made *result.OpenLoop) string {
	best := made.Best()
	if best == nil {
		return "whether more users have less success is not known: blocks do not tell of every step"
	}
	most := best
	for i := range made.Steps {
		if step := &made.Steps[i]; step.Users > most.Users {
			most = step
		}
	}
	if *most.ExecutedPerSecond < (1-fallPercent/100.0)**best.ExecutedPerSecond {
		return fmt.Sprintf("more users have less success: %.0f transfers per second were executed with %d users, and %.0f with %d%s",
			*best.ExecutedPerSecond, best.Users, *most.ExecutedPerSecond, most.Users, caveat(most))
	}
	if most == best {
		return fmt.Sprintf("more users do not have less success: most were executed with %d users, %.0f transfers per second%s",
			most.Users, *most.ExecutedPerSecond, caveat(most))
	}
	return fmt.Sprintf("more users do not have less success: %.0f transfers per second were executed with %d users, "+
		"and at most %.0f with fewer%s", *most.ExecutedPerSecond, most.Users, *best.ExecutedPerSecond, caveat(most))
}

// caveat says of a step that it says little of the chain; empty if it does not.
func caveat(step *result.OpenLoopStep) string {
	if !step.Saturation.Saturated || step.Holds() {
		return ""
	}
	return ", where the loader was the limit"
}
