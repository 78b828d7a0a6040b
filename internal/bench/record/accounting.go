// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// accountedSamples is how many of the last samples are looked at. What is lost stays lost:
// it is no more than what is missing at the one of them at which least is.
const accountedSamples = 5

// books add up what became of the transfers of a run.
type books struct {
	blocks []result.Block
	// from is the first sample that can be told of if something had been signed before the
	// record, else one of nothing at all.
	from result.Sample
}

// account says what became of the transfers that generators signed; nil if that is not
// known, or clients signed them.
func account(run *result.Run) *result.Accounting {
	if len(run.Blocks) == 0 {
		return nil
	}
	books := books{blocks: run.Blocks, from: result.Sample{Signed: new(uint64), Rejected: new(uint64), Pool: new(uint64)}}
	first := slices.IndexFunc(run.Samples, func(sample result.Sample) bool { return books.at(&sample) != nil })
	if first < 0 {
		return nil
	}
	if books.at(&run.Samples[first]).Lost() > 0 {
		// More had been signed when the record began than its first blocks hold, of a
		// network that was there before.
		books.from = run.Samples[first]
	}
	var least *result.Accounting
	for i, seen := len(run.Samples)-1, 0; i > first && seen < accountedSamples; i-- {
		accounting := books.at(&run.Samples[i])
		if accounting == nil {
			continue
		}
		seen++
		if least == nil || accounting.Lost() < least.Lost() {
			least = accounting
		}
	}
	return least
}

// at adds up what there was at a sample; nil if that cannot be told: something is not known,
// the next blocks are not there yet, or one of the chunks that were under way was missed.
// How many transfers that had, which go back to a pool, no block says.
func (b *books) at(sample *result.Sample) *result.Accounting {
	signed, refused := increase(b.from.Signed, sample.Signed), increase(b.from.Rejected, sample.Rejected)
	next := int(int64(sample.FinalizedHeight) - int64(b.blocks[0].Height) + 1)
	if signed == nil || refused == nil || sample.Pool == nil || next < 0 || next+1 >= len(b.blocks) || b.blocks[next].MissedChunks > 0 {
		return nil
	}
	made := &result.Accounting{
		TimeMs: sample.TimeMs, Height: sample.FinalizedHeight,
		Signed: *signed + *b.from.Pool, Refused: *refused, Waiting: *sample.Pool,
		InFlight: b.blocks[next].Included + b.blocks[next+1].Included,
	}
	var included uint64
	for i := range b.blocks[:next] {
		block := &b.blocks[i]
		if block.Height <= b.from.FinalizedHeight {
			continue
		}
		included += block.Included
		made.Executed += block.Executed
		if block.Failed != nil {
			made.Failed += *block.Failed
		}
	}
	// The first headers also commit to chunks of before.
	if done := made.Executed + made.Failed; included > done {
		made.Executing = included - done
	}
	made.Rest = int64(made.Signed) - int64(made.Refused) - int64(made.Waiting) - int64(included)
	return made
}

// accountingNote says that transfers are gone.
func accountingNote(accounting *result.Accounting) string {
	if accounting == nil || accounting.Lost() == 0 {
		return ""
	}
	return fmt.Sprintf("of %d signed transfers, %d are neither executed, failed, refused nor waiting, "+
		"and more than the %d that may have been on their way", accounting.Signed, accounting.Rest, accounting.InFlight)
}
