// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"fmt"
	"strconv"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// Judge decides what a benchmark came to: Failed before Regressed before
// Succeeded. The first of its words decided; without a comparison, nothing is
// compared.
func Judge(
	criteria []v1alpha1.BenchmarkCriterion, runs []result.Run, candidate *result.Variant, comparison *result.Comparison,
) result.Verdict {
	var failed, regressed, rest []string
	for i := range runs {
		if run := &runs[i]; run.Fault != "" {
			failed = append(failed, fmt.Sprintf("%s does not count: %s", nameOf(run), run.Fault))
		}
	}
	for i := range criteria {
		words, met := meets(&criteria[i], candidate)
		if met {
			rest = append(rest, words)
		} else {
			failed = append(failed, words)
		}
	}
	if comparison != nil {
		for i := range comparison.Changes {
			if change := &comparison.Changes[i]; change.Outcome == result.ChangeWorse {
				regressed = append(regressed, change.Words)
			} else {
				rest = append(rest, change.Words)
			}
		}
		if words := grewMost(comparison); len(regressed) > 0 && words != "" {
			regressed = append(regressed, words)
		}
	}

	verdict := result.Verdict{Outcome: result.Succeeded}
	switch {
	case len(failed) > 0:
		verdict.Outcome = result.Failed
	case len(regressed) > 0:
		verdict.Outcome = result.Regressed
	case len(rest) == 0:
		rest = append(rest, "the runs came to their end; there are no criteria, and nothing to compare with")
	}
	verdict.Words = append(append(failed, regressed...), rest...)
	return verdict
}

func nameOf(run *result.Run) string {
	name := "run " + strconv.Itoa(run.Repetition)
	if run.Variant != "" {
		name += " of " + run.Variant
	}
	return name
}

// meets says whether a criterion is met, and why.
func meets(criterion *v1alpha1.BenchmarkCriterion, candidate *result.Variant) (words string, met bool) {
	figure := candidate.FigureOf(criterion.Figure)
	if figure == nil {
		return fmt.Sprintf("%s is not known, and there is a criterion for it", criterion.Figure), false
	}
	is := fmt.Sprintf("%s is %s %s", criterion.Figure, figures.Number(figure.Value), figure.Unit)
	if criterion.AtLeast != nil {
		if least := criterion.AtLeast.AsApproximateFloat64(); figure.Value < least {
			return fmt.Sprintf("%s, and must be at least %g", is, least), false
		}
	}
	if criterion.AtMost != nil {
		if most := criterion.AtMost.AsApproximateFloat64(); figure.Value > most {
			return fmt.Sprintf("%s, and must be at most %g", is, most), false
		}
	}
	return is + ", as its criterion wants", true
}
