// SPDX-License-Identifier: Apache-2.0

package result

import (
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Outcome is what a benchmark came to.
type Outcome string

const (
	// Succeeded says that all criteria are met and nothing that was compared is
	// worse.
	Succeeded Outcome = "Succeeded"
	// Failed says that a run does not count or a criterion is not met.
	Failed Outcome = "Failed"
	// Regressed says that a figure is worse than the baseline's.
	Regressed Outcome = "Regressed"
)

// Verdict is the outcome and why it is that.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	// Words are sentences; the first one decided.
	Words []string `json:"words"`
}

// Comparison is how the candidate compares with its baseline.
type Comparison struct {
	// Baseline and Candidate name what is compared.
	Baseline  string `json:"baseline"`
	Candidate string `json:"candidate"`
	// FloorPercent is the least change that matters.
	FloorPercent float64 `json:"floorPercent"`
	// Paired says that runs were made in pairs: of both in turn, or side by side.
	Paired  bool     `json:"paired"`
	Changes []Change `json:"changes"`
	// Phases are what nodes spend time on, those that grew most first; absent when
	// they are not known of all runs.
	Phases []Phase `json:"phases,omitempty"`
	// Notes say what a reader should know of the comparison.
	Notes []string `json:"notes,omitempty"`
}

// Tells says whether it tells of any figure what became of it; one that there is not does
// not.
func (c *Comparison) Tells() bool {
	return c != nil && slices.ContainsFunc(c.Changes, func(change Change) bool {
		return change.Outcome != ChangeUnclear && change.Outcome != ChangeUnknown
	})
}

// Phase is what nodes spend time on, and wait for: the time of all nodes together
// for each executed transfer.
type Phase struct {
	Name                  string  `json:"name"`
	BaselineMicroseconds  float64 `json:"baselineMicroseconds"`
	CandidateMicroseconds float64 `json:"candidateMicroseconds"`
}

// ChangeOutcome is what a change of a figure comes to.
type ChangeOutcome string

const (
	// ChangeWorse says that the whole interval is worse than the floor.
	ChangeWorse ChangeOutcome = "Worse"
	// ChangeBetter says that the whole interval is better than the floor.
	ChangeBetter ChangeOutcome = "Better"
	// ChangeNone says that the whole interval is within the floor.
	ChangeNone ChangeOutcome = "None"
	// ChangeUnclear says that the interval reaches over the floor.
	ChangeUnclear ChangeOutcome = "Unclear"
	// ChangeUnknown says that there is no interval.
	ChangeUnknown ChangeOutcome = "Unknown"
)

// Change is how one figure changed from the baseline.
type Change struct {
	Figure v1alpha1.BenchmarkFigure `json:"figure"`
	// Percent is the change in percent of the baseline's figure, or in percentage
	// points of one that is a percentage itself.
	Percent  *float64      `json:"percent,omitempty"`
	Interval *Interval     `json:"interval,omitempty"`
	Outcome  ChangeOutcome `json:"outcome"`
	// Words say the same for people.
	Words string `json:"words"`
}
