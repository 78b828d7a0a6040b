// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"
)

// end is the end of a process and what is to follow.
type end struct {
	exitCode int
	// readyFor is nil for a process that never was ready.
	readyFor *time.Duration
	delay    time.Duration
	giveUp   bool
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	const ms, s = time.Millisecond, time.Second
	brief, steady := ptr.To(s), ptr.To(time.Minute)
	cases := map[string][]end{
		"the delay doubles up to a limit": {
			{1, brief, 500 * ms, false},
			{1, brief, 1 * s, false},
			{1, brief, 2 * s, false},
			{1, brief, 4 * s, false},
			{1, brief, 8 * s, false},
			{1, brief, 8 * s, false},
		},
		"a minute of readiness forgets": {
			{1, brief, 500 * ms, false},
			{1, brief, 1 * s, false},
			{1, steady, 500 * ms, false},
			{1, brief, 1 * s, false},
		},
		"five ends without readiness are enough": {
			{1, nil, 500 * ms, false},
			{1, nil, 1 * s, false},
			{1, nil, 2 * s, false},
			{1, nil, 4 * s, false},
			{1, nil, 0, true},
		},
		"readiness in between counts, however brief": {
			{1, nil, 500 * ms, false},
			{1, nil, 1 * s, false},
			{1, nil, 2 * s, false},
			{1, nil, 4 * s, false},
			{1, brief, 8 * s, false},
			{1, nil, 8 * s, false},
		},
		"killed by a signal":   {{-1, brief, 500 * ms, false}},
		"ended without reason": {{0, brief, 500 * ms, false}},
		"a wrong file stays wrong": {
			{1, steady, 500 * ms, false},
			{2, nil, 0, true},
		},
	}
	for name, ends := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var restarts restarts
			for i, end := range ends {
				delay, again := restarts.next(end.exitCode, end.readyFor)
				if delay != end.delay || again == end.giveUp {
					t.Fatalf("end %d: start again %t after %s, want %t after %s", i, again, delay, !end.giveUp, end.delay)
				}
			}
		})
	}
}
