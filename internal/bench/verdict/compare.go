// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/statistics"
)

// Side is one of two things that are compared.
type Side struct {
	Name string
	Runs []*result.Run
	// Notes say which runs are left out, and why.
	Notes []string
}

// CandidateOf is the side of what a result's criteria are about.
func CandidateOf(made *result.Result, name string) Side {
	return newSide(name, made.RunsOf(made.Candidate().Name))
}

// newSide makes a side of those runs that count.
func newSide(name string, runs []*result.Run) Side {
	side := Side{Name: name}
	for _, run := range runs {
		if run.Fault == "" {
			side.Runs = append(side.Runs, run)
			continue
		}
		side.Notes = append(side.Notes, fmt.Sprintf("run %d of %s does not count: %s", run.Repetition, name, run.Fault))
	}
	return side
}

// Check says whether there is anything to compare.
func (s *Side) Check() error {
	if none := s.none(); none != "" {
		return fmt.Errorf("%s, and nothing can be compared with it: %s", none, strings.Join(s.Notes, "; "))
	}
	return nil
}

// none says that no run is left; empty when one is.
func (s *Side) none() string {
	if len(s.Runs) > 0 {
		return ""
	}
	return fmt.Sprintf("no run of %s counts", s.Name)
}

// isPairedWith says whether each run has the one of the other side that was made with
// it.
func (s *Side) isPairedWith(other *Side) bool {
	return slices.EqualFunc(s.Runs, other.Runs, func(run, with *result.Run) bool { return run.Repetition == with.Repetition })
}

// Compare compares a candidate with its baseline, as a benchmark says. Pairs are
// runs that were made one after the other, of each side in turn, or side by side.
func Compare(baseline, candidate Side, how *v1alpha1.BenchmarkBaseline, paired bool, seed uint64) *result.Comparison {
	comparison := &result.Comparison{
		Baseline:  baseline.Name,
		Candidate: candidate.Name,
		Paired:    paired && baseline.isPairedWith(&candidate),
		Notes:     slices.Concat(baseline.Notes, candidate.Notes),
	}
	if how.FloorPercent != nil {
		comparison.FloorPercent = float64(*how.FloorPercent)
	}
	if min(len(baseline.Runs), len(candidate.Runs)) == 1 {
		comparison.Notes = append(comparison.Notes, "one run tells nothing of how runs differ from each other: "+
			"the intervals are only of what changes within it")
	}
	unknown := cmp.Or(baseline.none(), candidate.none(), "it is not known of every run, or is 0, or there are too few blocks")
	for _, name := range how.Figures {
		definition, ok := figures.Define(name)
		if !ok {
			continue
		}
		estimated, known := definition.Change(baseline.Runs, candidate.Runs, comparison.Paired, how.ConfidencePercent, seed)
		change := result.Change{Figure: name, Outcome: result.ChangeUnknown, Words: fmt.Sprintf("%s cannot be compared: %s", name, unknown)}
		if known {
			change = judgeChange(&definition, comparison.FloorPercent, how.ConfidencePercent, estimated)
		}
		comparison.Changes = append(comparison.Changes, change)
	}
	comparison.Phases = Phases(baseline.Runs, candidate.Runs)
	return comparison
}

// judgeChange says what a change of one figure comes to.
func judgeChange(definition *figures.Definition, floor float64, confidencePercent int32, estimated statistics.Interval) result.Change {
	change := result.Change{Figure: definition.Name}
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
