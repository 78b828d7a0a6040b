// SPDX-License-Identifier: Apache-2.0

package bisection_test

import (
	"errors"
	"math/bits"
	"testing"

	"github.com/shardyard/shardyard/internal/bench/bisection"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// costs compares builds by what each costs: more than a hundredth more is worse.
func costs(all []int, compared *int) bisection.Compare {
	return func(baseline, candidate int) (*result.Result, error) {
		*compared++
		if 100*all[candidate] > 101*all[baseline] {
			return comparedTo(result.Regressed, result.ChangeWorse), nil
		}
		return comparedTo(result.Succeeded, result.ChangeNone), nil
	}
}

// comparedTo is a result of two builds whose figures came to something.
func comparedTo(outcome result.Outcome, changes ...result.ChangeOutcome) *result.Result {
	made := &result.Result{Verdict: result.Verdict{Outcome: outcome}, Comparison: new(result.Comparison)}
	for _, change := range changes {
		made.Comparison.Changes = append(made.Comparison.Changes, result.Change{Outcome: change})
	}
	return made
}

// Wherever the change is in a list of any length, it is found in few comparisons.
func TestFind(t *testing.T) {
	t.Parallel()
	for builds := 2; builds <= 40; builds++ {
		for first := 1; first < builds; first++ {
			all := make([]int, builds)
			for i := range all {
				all[i] = 1000
				if i >= first {
					all[i] = 1100
				}
			}
			compared := 0
			found, err := bisection.Find(builds, costs(all, &compared))
			if err != nil || found.First != first || !found.Alone {
				t.Errorf("of %d builds, %+v is found, want %d: %v", builds, found, first, err)
			}
			// The ends, a half each time, and the neighbour.
			if most := 2 + bits.Len(uint(builds)); compared > most {
				t.Errorf("of %d builds, %d is found by %d comparisons, want %d at most", builds, first, compared, most)
			}
		}
	}
}

// What came in steps that are too small to tell is not laid at one build's door.
func TestFindSmallSteps(t *testing.T) {
	t.Parallel()
	compared := 0
	found, err := bisection.Find(5, costs([]int{1000, 1006, 1012, 1018, 1024}, &compared))
	if err != nil || found.First != 2 || found.Alone {
		t.Errorf("%+v is found, want build 2, not alone: %v", found, err)
	}
}

// One figure that is known is enough.
func TestFindByOneFigure(t *testing.T) {
	t.Parallel()
	found, err := bisection.Find(3, func(_, candidate int) (*result.Result, error) {
		if candidate == 2 {
			return comparedTo(result.Regressed, result.ChangeUnclear, result.ChangeWorse), nil
		}
		return comparedTo(result.Succeeded, result.ChangeUnknown, result.ChangeBetter), nil
	})
	if err != nil || found.First != 2 || !found.Alone {
		t.Errorf("%+v is found, want build 2: %v", found, err)
	}
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	compared := 0
	found, err := bisection.Find(5, costs([]int{1000, 1000, 1100, 1000, 1000}, &compared))
	if err != nil || found.First != 0 || compared != 1 {
		t.Errorf("%+v is found by %d comparisons: %v", found, compared, err)
	}
	if _, err := bisection.Find(1, nil); err == nil {
		t.Error("one build was searched")
	}
}

// A comparison that failed, could not be made or tells of no figure ends the search.
func TestFindUnknown(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for at := 1; at <= 4; at++ {
		for name, test := range map[string]struct {
			made *result.Result
			err  error
		}{
			"failed":       {made: comparedTo(result.Failed, result.ChangeWorse)},
			"unclear":      {made: comparedTo(result.Succeeded, result.ChangeUnclear, result.ChangeUnknown)},
			"not compared": {made: &result.Result{Verdict: result.Verdict{Outcome: result.Succeeded}}},
			"broken":       {err: broken},
		} {
			compared := 0
			compare := costs([]int{1000, 1000, 1000, 1100, 1100}, &compared)
			found, err := bisection.Find(5, func(baseline, candidate int) (*result.Result, error) {
				made, err := compare(baseline, candidate)
				if compared == at {
					return test.made, test.err
				}
				return made, err
			})
			unknown, isUnknown := errors.AsType[*bisection.UnknownError](err)
			if compared != at || test.err != nil && !errors.Is(err, broken) || test.err == nil && (!isUnknown || unknown.Candidate == 0) {
				t.Errorf("comparison %d %s: %+v is found by %d, with the error %v", at, name, found, compared, err)
			}
		}
	}
}
