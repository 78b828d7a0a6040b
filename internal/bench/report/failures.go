// SPDX-License-Identifier: Apache-2.0

package report

import "github.com/shardyard/shardyard/internal/bench/result"

// failuresOf makes a line of each reason for which transactions failed, of one kind, with
// a point for each time at which the nodes were asked; none where nothing failed.
func failuresOf(kind string) func(*result.Run) []Series {
	return func(run *result.Run) []Series {
		steps := run.FailureSteps()
		var lines []Series
		for _, reason := range result.FailureReasons(steps, kind) {
			line := Series{Label: reason}
			for i := range steps {
				line.add(secondsOf(run, steps[i].EndedMs), steps[i].PerSecond(steps[i].Count(kind, reason)))
			}
			lines = append(lines, line)
		}
		return lines
	}
}
