// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"errors"
	"testing"
	"time"
)

// Events come in bursts, and what fails mostly fails again.
func TestTooSoon(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cases := map[string]struct {
		failures   int
		since      time.Duration
		generation int64
		want       time.Duration
	}{
		"right after":                {0, 0, 1, 500 * time.Millisecond},
		"a little after":             {0, 200 * time.Millisecond, 1, 300 * time.Millisecond},
		"long after":                 {0, time.Second, 1, 0},
		"another spec":               {5, 0, 2, 0},
		"after a failure":            {1, 200 * time.Millisecond, 1, 800 * time.Millisecond},
		"after failures":             {4, 0, 1, 8 * time.Second},
		"after many":                 {1000, 0, 1, 30 * time.Second},
		"after many, and long after": {1000, time.Minute, 1, 0},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory := &memory{lastRun: now.Add(-test.since), lastGeneration: 1}
			for range test.failures {
				memory.done(errors.New("refused"))
			}
			if got := memory.tooSoon(now, test.generation); got != test.want {
				t.Errorf("the wait is %s, want %s", got, test.want)
			}
			memory.done(nil)
			if memory.failures != 0 {
				t.Errorf("%d failures are remembered after a success", memory.failures)
			}
		})
	}
}
