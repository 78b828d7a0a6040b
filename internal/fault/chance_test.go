// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"math"
	"testing"
	"time"
)

// The probabilities are those of fisher.test(..., alternative = "greater") of R, or
// follow from counting.
func TestChance(t *testing.T) {
	t.Parallel()
	cases := []struct {
		before, now share
		want        float64
	}{
		// Of all ways to choose 3 of 23, one is of the last three.
		{share{0, 20}, share{3, 3}, 1.0 / 1771},
		// The tea of the lady: four of four, and three or more.
		{share{0, 4}, share{4, 4}, 1.0 / 70},
		{share{1, 4}, share{3, 4}, 17.0 / 70},
		{share{0, 20}, share{0, 20}, 1},
		{share{20, 20}, share{20, 20}, 1},
		{share{0, 0}, share{5, 5}, 1},
		{share{5, 5}, share{0, 0}, 1},
	}
	for _, test := range cases {
		if got := chance(test.before, test.now); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("of %v and %v the chance is %v, want %v", test.before, test.now, got, test.want)
		}
	}
}

// Each of the events is of the first time or of the second one, as a coin falls that
// knows how long they are.
func TestRarely(t *testing.T) {
	t.Parallel()
	cases := []struct {
		before, now                 int
		beforeDuration, nowDuration time.Duration
		want                        float64
	}{
		{10, 0, time.Second, time.Second, 1.0 / 1024},
		{9, 1, time.Second, time.Second, 11.0 / 1024},
		{4, 0, time.Second, 3 * time.Second, 1.0 / 256},
		{0, 0, time.Second, time.Second, 1},
	}
	for _, test := range cases {
		if got := rarely(test.before, test.now, test.beforeDuration, test.nowDuration); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("of %d in %s and %d in %s the chance is %v, want %v",
				test.before, test.beforeDuration, test.now, test.nowDuration, got, test.want)
		}
	}
}
