// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
)

const (
	// statisticsSeed is what intervals follow from: with another one they differ
	// in their last digits.
	statisticsSeed = 1

	// confidencePercent is that of the intervals of figures when the benchmark
	// names none.
	confidencePercent = 95
)

// Seeds are those of a result.
func Seeds(genesis string) result.Seeds {
	return result.Seeds{Genesis: genesis, Statistics: statisticsSeed}
}

// Conclude makes the figures, the comparison and the verdict of the runs that a
// result has. The baseline is an earlier result, which is nil for none, and what
// it is called; of two variants, the first is the baseline of the second. Runs that do
// not count are compared with nothing.
func Conclude(made, baseline *result.Result, baselineName string) {
	how := made.Benchmark.Spec.Baseline
	confidence := int32(confidencePercent)
	if how != nil {
		confidence = how.ConfidencePercent
	}
	for i := range made.Variants {
		variant := &made.Variants[i]
		runs := made.RunsOf(variant.Name)
		variant.Figures = figures.Of(runs, confidence, statisticsSeed)
		if nodes := runs[0].Nodes; len(nodes) > 0 {
			variant.Shardnode.Version = nodes[0].Version
		}
	}
	switch {
	case len(made.Variants) > 1:
		first := newSide(made.Variants[0].Name, made.RunsOf(made.Variants[0].Name))
		made.Comparison = Compare(first, CandidateOf(made, made.Candidate().Name), how, true, statisticsSeed)
	case baseline != nil:
		made.Comparison = Compare(CandidateOf(baseline, baselineName), CandidateOf(made, made.Benchmark.Name), how, false, statisticsSeed)
		made.Comparison.Notes = append(made.Comparison.Notes, Differences(baseline, made)...)
	}
	made.Verdict = Judge(made.Benchmark.Spec.Criteria, made.Runs, made.Candidate(), made.Comparison)
}
