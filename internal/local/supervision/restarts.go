// SPDX-License-Identifier: Apache-2.0

package supervision

import "time"

const (
	firstRestartDelay = 500 * time.Millisecond
	maxRestartDelay   = 8 * time.Second

	// steadyAfter is how long a validator must have been ready for its next end
	// to count as the first.
	steadyAfter = time.Minute

	// maxUnreadyEnds is how often in a row a validator may end without having
	// become ready.
	maxUnreadyEnds = 5

	// exitWrongFile is the exit code of a node whose configuration, or a file
	// that it names, is wrong. No restart changes that.
	exitWrongFile = 2
)

// restarts decides whether and when a validator that ended is started again.
type restarts struct {
	ends        int
	unreadyEnds int
}

// next takes the end of a process: its exit code and the time since it was
// first ready, nil if it never was. It returns how long to wait before the next
// start; false when there is to be none.
func (r *restarts) next(exitCode int, readyFor *time.Duration) (time.Duration, bool) {
	r.unreadyEnds++
	if readyFor != nil {
		r.unreadyEnds = 0
		if *readyFor >= steadyAfter {
			r.ends = 0
		}
	}
	if exitCode == exitWrongFile || r.unreadyEnds >= maxUnreadyEnds {
		return 0, false
	}
	r.ends++
	return restartDelay(r.ends), true
}

// restartDelay doubles with every end.
func restartDelay(ends int) time.Duration {
	delay := firstRestartDelay
	for range ends - 1 {
		if delay *= 2; delay >= maxRestartDelay {
			return maxRestartDelay
		}
	}
	return delay
}
