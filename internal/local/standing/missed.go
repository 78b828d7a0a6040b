// SPDX-License-Identifier: Apache-2.0

package standing

import (
	"slices"

	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/internal/trace"
)

// missed are the chunks of a shard that one producer had to produce and that are
// missing for one cause.
type missed struct {
	Shard    int         `json:"shard"`
	Producer string      `json:"producer"`
	Cause    trace.Cause `json:"cause"`
	// Heights are those of the blocks that have no chunk of the shard, the newest first.
	Heights []uint64 `json:"heights"`
}

// addMissed counts whose turns were missed, and says why.
func (n *Network) addMissed(table *table) {
	table.Blocks = len(n.blocks)
	producers := n.producers()
	for _, turns := range slices.Backward(n.blocks) {
		for _, shard := range turns.had {
			table.turn(producerOf(producers[shard], turns.height), false)
		}
		for _, shard := range turns.missed {
			producer := producerOf(producers[shard], turns.height)
			table.turn(producer, true)
			cause := trace.WhyMissed(n.Traces.Of(turns.height), shard, producer)
			table.miss(missed{Shard: shard, Producer: producer, Cause: cause, Heights: []uint64{turns.height}})
		}
	}
	for i := range table.Validators {
		row := &table.Validators[i]
		var others []float64
		for j := range table.Validators {
			if other := table.Validators[j].Missed; j != i && other != nil {
				others = append(others, float64(*other))
			}
		}
		row.MissedOutlying = row.Missed != nil && len(others) > 0 && outlies(float64(*row.Missed), medianOf(others), missedFloor)
	}
}

// producers are those of each shard, in the order of their turns.
func (n *Network) producers() map[int][]string {
	seats := map[int][]topology.Validator{}
	for _, validator := range n.Validators {
		if validator.Seat != nil {
			seats[validator.Shard] = append(seats[validator.Shard], validator)
		}
	}
	producers := map[int][]string{}
	for shard, validators := range seats {
		slices.SortFunc(validators, func(a, b topology.Validator) int { return a.Slot - b.Slot })
		for _, validator := range validators {
			producers[shard] = append(producers[shard], validator.Name)
		}
	}
	return producers
}

// producerOf is whose turn a height is: the producers of a shard take turns by height,
// in the order of their slots.
func producerOf(producers []string, height uint64) string {
	if len(producers) == 0 {
		return ""
	}
	return producers[height%uint64(len(producers))]
}

// turn counts a turn of a producer.
func (t *table) turn(producer string, missed bool) {
	i := slices.IndexFunc(t.Validators, func(row row) bool { return row.Name == producer })
	if i < 0 {
		return
	}
	row := &t.Validators[i]
	if row.Turns == nil {
		row.Turns, row.Missed = new(int), new(int)
	}
	*row.Turns++
	if missed {
		*row.Missed++
	}
}

// miss adds a missed chunk to those of the same shard, producer and cause.
func (t *table) miss(one missed) {
	i := slices.IndexFunc(t.Missed, func(other missed) bool {
		return other.Shard == one.Shard && other.Producer == one.Producer && other.Cause == one.Cause
	})
	if i < 0 {
		t.Missed = append(t.Missed, one)
		return
	}
	t.Missed[i].Heights = append(t.Missed[i].Heights, one.Heights...)
}
