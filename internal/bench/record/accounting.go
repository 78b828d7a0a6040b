// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// accountedSamples is how many of the last samples are looked at. What is lost stays lost:
// it is no more than what is missing at the one of them at which least is.
const accountedSamples = 5

// books add up what became of the transfers of a run.
type books struct {
	blocks  []result.Block
	samples []result.Sample
	// lowest are the last blocks that all nodes had processed, of each sample.
	lowest []uint64
	// from is the first sample that can be told of if something had been signed before the
	// record, else one of nothing at all.
	from result.Sample
}

// account says what became of the transfers that generators signed; nil if that is not
// known, or clients signed them.
func account(run *result.Run, lowest []uint64) *result.Accounting {
	if len(run.Blocks) == 0 {
		return nil
	}
	books := books{
		blocks: run.Blocks, samples: run.Samples, lowest: lowest,
		from: result.Sample{Signed: new(uint64), Rejected: new(uint64), Pool: new(uint64)},
	}
	first := 0
	for first < len(run.Samples) && books.at(first) == nil {
		first++
	}
	if first == len(run.Samples) {
		return nil
	}
	if books.at(first).Lost() > 0 {
		// More had been signed when the record began than its first blocks hold, of a
		// network that was there before.
		books.from = run.Samples[first]
	}
	var least *result.Accounting
	for i, seen := len(run.Samples)-1, 0; i > first && seen < accountedSamples; i-- {
		accounting := books.at(i)
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
// the next blocks are not there yet, or a chunk was missed that was under way, or of which
// not every node knew it yet. How many transfers that had, which go back to a pool, no block
// says.
func (b *books) at(number int) *result.Accounting {
	sample := &b.samples[number]
	signed, refused := increase(b.from.Signed, sample.Signed), increase(b.from.Rejected, sample.Rejected)
	next := int(int64(sample.FinalizedHeight) - int64(b.blocks[0].Height) + 1)
	if signed == nil || refused == nil || sample.Pool == nil || next < 0 || next+1 >= len(b.blocks) {
		return nil
	}
	for i := next; i >= 0 && b.blocks[i].Height >= b.lowest[number]; i-- {
		if b.blocks[i].MissedChunks > 0 {
			return nil
		}
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
