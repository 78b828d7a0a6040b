// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// Sighting is what was seen of a network in one time: before a fault, during it or
// after it.
type Sighting struct {
	// Duration is how long it was looked at.
	Duration time.Duration
	// Blocks are finalised blocks, one after the other. The first is the last one of
	// before, from which the next is timed, and is not counted.
	Blocks []*chain.Block
	// LongestWait is the longest time in which nobody told of another finalised block.
	LongestWait time.Duration
	// Answers are what became of asking each validator for its status, by name.
	Answers map[string]Answers
	// Endorsed are the chunks whose endorsements were looked at.
	Endorsed Endorsed
}

// Answers count how often a validator was asked for its status, and told it.
type Answers struct {
	Asked, Answered int
	// Impaired is how often it told of the fault that it keeps.
	Impaired int
	// Restarted says that its counters began anew in between.
	Restarted bool
}

// Endorsed count chunks, and those that a part of their committee did not endorse.
type Endorsed struct {
	Chunks, Partly int
}

// MadeBlocks is how many blocks were finalised in the time.
func (s *Sighting) MadeBlocks() int {
	return max(len(s.Blocks)-1, 0)
}

// blockTimes are the differences of the blocks' timestamps, in milliseconds.
func (s *Sighting) blockTimes() []int64 {
	times := make([]int64, 0, s.MadeBlocks())
	for i := 1; i < len(s.Blocks); i++ {
		times = append(times, s.Blocks[i].TimestampMs-s.Blocks[i-1].TimestampMs)
	}
	return times
}

// share is how many of how many.
type share struct {
	count, of int
}

// turns counts the chunks that are missing: of those whose producer is in scope, and
// of all others. The producers of a shard take turns by height, in the order of
// their slots.
func (s *Sighting) turns(scope []topology.Validator, plan *topology.Plan) (scoped, others share) {
	producers := make([]int, plan.Shards)
	for i := range plan.Nodes {
		if seat := plan.Nodes[i].Seat; seat != nil {
			producers[seat.Shard]++
		}
	}
	inScope := map[topology.Seat]bool{}
	for i := range scope {
		if seat := scope[i].Seat; seat != nil {
			inScope[*seat] = true
		}
	}
	for i := 1; i < len(s.Blocks); i++ {
		block := s.Blocks[i]
		for _, chunk := range block.Chunks {
			if chunk.Shard < 0 || chunk.Shard >= plan.Shards || producers[chunk.Shard] == 0 {
				continue
			}
			turn := topology.Seat{Shard: chunk.Shard, Slot: int(block.Height % uint64(producers[chunk.Shard]))}
			counted := &others
			if inScope[turn] {
				counted = &scoped
			}
			counted.of++
			if chunk.Height != block.Height {
				counted.count++
			}
		}
	}
	return scoped, others
}

// measured are the shares of a sighting, by measure. A block is slow if it takes
// more than twice the median of before.
func (s *Sighting) measured(scope []topology.Validator, plan *topology.Plan, medianMs int64) map[v1alpha1.FaultMeasure]share {
	scoped, others := s.turns(scope, plan)
	slow := share{of: s.MadeBlocks()}
	for _, took := range s.blockTimes() {
		if took > 2*medianMs {
			slow.count++
		}
	}
	return map[v1alpha1.FaultMeasure]share{
		v1alpha1.FaultMissedTurns:          scoped,
		v1alpha1.FaultMissedChunks:         others,
		v1alpha1.FaultPartlyEndorsedChunks: {s.Endorsed.Partly, s.Endorsed.Chunks},
		v1alpha1.FaultSlowBlocks:           slow,
	}
}

// medianMs is the median of the block times; 0 without blocks.
func (s *Sighting) medianMs() int64 {
	times := s.blockTimes()
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// meanMs is the mean of the block times; nil without blocks.
func (s *Sighting) meanMs() *int64 {
	times := s.blockTimes()
	if len(times) == 0 {
		return nil
	}
	var sum int64
	for _, took := range times {
		sum += took
	}
	return ptr.To(sum / int64(len(times)))
}
