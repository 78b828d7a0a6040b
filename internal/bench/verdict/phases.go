// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// timed are the phases that nodes time, by the metric of each.
var timed = []struct{ name, metric string }{
	{"executing chunks", result.ExecutionMetric},
	{"making witnesses", result.WitnessMakeMetric},
	{"receiving witnesses", result.WitnessReceiveMetric},
	{"validating witnesses", result.WitnessValidationMetric},
}

// Phases are what nodes spend time on, those that grew most first; nil when they
// are not known of all runs.
func Phases(baseline, candidate []*result.Run) []result.Phase {
	var phases []result.Phase
	for _, phase := range timed {
		before, known := microseconds(baseline, phase.metric)
		after, alsoKnown := microseconds(candidate, phase.metric)
		if !known || !alsoKnown {
			return nil
		}
		phases = append(phases, result.Phase{Name: phase.name, BaselineMicroseconds: before, CandidateMicroseconds: after})
	}
	slices.SortStableFunc(phases, func(a, b result.Phase) int { return cmp.Compare(growth(b), growth(a)) })
	return phases
}

func growth(phase result.Phase) float64 {
	return phase.CandidateMicroseconds - phase.BaselineMicroseconds
}

// microseconds are what all nodes spent on a phase for each transfer of runs.
func microseconds(runs []*result.Run, metric string) (float64, bool) {
	var seconds, transfers float64
	for _, run := range runs {
		observed := run.Counts.Histogram(metric)
		executed, known := run.Counts.Counter(result.TransfersMetric)
		if observed == nil || !known {
			return 0, false
		}
		seconds, transfers = seconds+observed.Sum, transfers+executed
	}
	if transfers <= 0 {
		return 0, false
	}
	return 1e6 * seconds / transfers, true
}

// grewMost says which phase grew most; empty when none did, or it is not known.
func grewMost(comparison *result.Comparison) string {
	if len(comparison.Phases) == 0 || growth(comparison.Phases[0]) <= 0 {
		return ""
	}
	phase := comparison.Phases[0]
	return fmt.Sprintf("of what nodes time, %s grew most: from %.2f to %.2f µs a transfer, all nodes together",
		phase.Name, phase.BaselineMicroseconds, phase.CandidateMicroseconds)
}
