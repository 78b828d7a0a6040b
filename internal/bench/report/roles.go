// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/topology"
)

// cpuOfRoles makes a line for each role of a network; none of a network that has but
// one, whose nodes are all nodes.
func cpuOfRoles(run *result.Run) []Series {
	var lines []Series
	for _, role := range topology.Roles {
		line := Series{Label: string(role)}
		byStep(func(before, sample *result.Sample, seconds float64) (float64, bool) {
			first, knownFirst := before.CPUSecondsByRole[string(role)]
			last, knownLast := sample.CPUSecondsByRole[string(role)]
			if !knownFirst || !knownLast {
				return 0, false
			}
			used, known := rise(&first, &last)
			return used / seconds, known
		})(run, &line)
		if len(line.X) > 0 {
			lines = append(lines, line)
		}
	}
	if len(lines) < 2 {
		return nil
	}
	return lines
}
