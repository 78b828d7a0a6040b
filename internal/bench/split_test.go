// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/topology"
)

// plan has as many producers as shards of one each, and chunk validators after
// them.
func plan(producers, chunkValidators int) []topology.Validator {
	var validators []topology.Validator
	for shard := range producers {
		validators = append(validators, topology.Validator{Role: topology.RoleProducer, Seat: &topology.Seat{Shard: shard}})
	}
	return append(validators, slices.Repeat([]topology.Validator{{Role: topology.RoleChunkValidator}}, chunkValidators)...)
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rate                       int64
		producers, chunkValidators int
		want                       []int64
	}{
		{6000, 4, 0, []int64{1500, 1500, 1500, 1500}},
		{0, 2, 0, []int64{0, 0}},
		{2, 4, 0, []int64{0, 1, 0, 1}},
		{7, 3, 0, []int64{2, 2, 3}},
		{7, 3, 2, []int64{2, 2, 3, 0, 0}},
	} {
		if got := bench.Split(test.rate, plan(test.producers, test.chunkValidators)); !slices.Equal(got, test.want) {
			t.Errorf("%d among %d producers and %d chunk validators is %d, want %d",
				test.rate, test.producers, test.chunkValidators, got, test.want)
		}
	}
}

func TestSplitIsExactAndEven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		producers := rapid.IntRange(1, 4096).Draw(t, "producers")
		rate := rapid.Int64Range(0, int64(producers)*1_000_000).Draw(t, "rate")
		shares := bench.Split(rate, plan(producers, 0))
		var sum int64
		for _, share := range shares {
			sum += share
		}
		if len(shares) != producers || sum != rate {
			t.Fatalf("%d shares sum to %d, want %d shares and %d", len(shares), sum, producers, rate)
		}
		if least, most := slices.Min(shares), slices.Max(shares); least < 0 || most-least > 1 {
			t.Fatalf("shares are between %d and %d", least, most)
		}
	})
}
