// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/internal/bench"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rate      int64
		producers int
		want      []int64
	}{
		{6000, 4, []int64{1500, 1500, 1500, 1500}},
		{0, 2, []int64{0, 0}},
		{2, 4, []int64{0, 1, 0, 1}},
		{7, 3, []int64{2, 2, 3}},
	} {
		if got := bench.Split(test.rate, test.producers); !slices.Equal(got, test.want) {
			t.Errorf("%d among %d is %d, want %d", test.rate, test.producers, got, test.want)
		}
	}
}

func TestSplitIsExactAndEven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		producers := rapid.IntRange(1, 65_536).Draw(t, "producers")
		rate := rapid.Int64Range(0, int64(producers)*1_000_000).Draw(t, "rate")
		shares := bench.Split(rate, producers)
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
