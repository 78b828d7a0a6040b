// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"fmt"
	"math"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/statistics"
)

// Side is one of two things that are compared.
type Side struct {
	Name string
	Runs []*result.Run
}

// Compare compares a candidate with its baseline, as a benchmark says. Pairs are
// runs that were made one after the other, of each side in turn, or side by side.
func Compare(baseline, candidate Side, how *v1alpha1.BenchmarkBaseline, paired bool, seed uint64) *result.Comparison {
	comparison := &result.Comparison{
		Baseline:  baseline.Name,
		Candidate: candidate.Name,
		Paired:    paired && len(baseline.Runs) == len(candidate.Runs),
	}
	if how.FloorPercent != nil {
		comparison.FloorPercent = float64(*how.FloorPercent)
	}
	if min(len(baseline.Runs), len(candidate.Runs)) == 1 {
		comparison.Notes = append(comparison.Notes, "one run tells nothing of how runs differ from each other: "+
			"the intervals are only of what changes within it")
	}
	for _, name := range how.Figures {
		definition, ok := figures.Define(name)
		if !ok {
			continue
		}
		estimated, known := definition.Change(baseline.Runs, candidate.Runs, comparison.Paired, how.ConfidencePercent, seed)
		comparison.Changes = append(comparison.Changes,
			judgeChange(&definition, comparison.FloorPercent, how.ConfidencePercent, estimated, known))
	}
	comparison.Phases = Phases(baseline.Runs, candidate.Runs)
	return comparison
}

// judgeChange says what a change of one figure comes to.
func judgeChange(
	definition *figures.Definition, floor float64, confidencePercent int32, estimated statistics.Interval, known bool,
) result.Change {
	change := result.Change{Figure: definition.Name, Outcome: result.ChangeUnknown}
	if !known {
		change.Words = fmt.Sprintf("%s cannot be compared: it is not known of every run, or is 0, or there are too few blocks",
			definition.Name)
		return change
	}
	change.Percent = &estimated.Estimate
	change.Interval = &result.Interval{Low: estimated.Low, High: estimated.High, ConfidencePercent: confidencePercent}
	change.Outcome = outcome(definition.Better, floor, estimated)
	unit := "%"
	if definition.Points {
		unit = " percentage points"
	}
	change.Words = fmt.Sprintf("%s changed by %s%s (%d%% interval %s%s to %s%s): %s", definition.Name,
		signed(estimated.Estimate), unit, confidencePercent, signed(estimated.Low), unit, signed(estimated.High), unit,
		fmt.Sprintf(outcomeWords[change.Outcome], fmt.Sprintf("%g%s", floor, unit)))
	return change
}

// signed writes a number with its sign.
func signed(number float64) string {
	return fmt.Sprintf("%+.2f", number)
}

var outcomeWords = map[result.ChangeOutcome]string{
	result.ChangeWorse:   "all of that is worse by more than %s",
	result.ChangeBetter:  "all of that is better by more than %s",
	result.ChangeNone:    "no change of more than %s",
	result.ChangeUnclear: "too uncertain to tell a change of %s from none",
}

// outcome compares an interval with the floor, which does not belong to what is
// worse or better.
func outcome(better figures.Better, floor float64, change statistics.Interval) result.ChangeOutcome {
	low, high := change.Low, change.High
	if better == figures.Higher {
		low, high = -high, -low
	}
	switch {
	case low > floor:
		return result.ChangeWorse
	case high < -floor:
		return result.ChangeBetter
	case math.Max(math.Abs(low), math.Abs(high)) <= floor:
		return result.ChangeNone
	default:
		return result.ChangeUnclear
	}
}
