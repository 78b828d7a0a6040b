// SPDX-License-Identifier: Apache-2.0

package bisection

import (
	"errors"
	"fmt"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// leastBuilds are a good one and a bad one.
const leastBuilds = 2

// Compare compares a build with a baseline, both by their place in the list.
type Compare func(baseline, candidate int) (*result.Result, error)

// Found is what a search came to.
type Found struct {
	// First is the place of the first build that is worse than the good one; 0 when the
	// last one is not.
	First int
	// Alone says that this build is also worse than the one before it. Where it is not,
	// the change came with several builds.
	Alone bool
}

// UnknownError is a comparison that says nothing of a build.
type UnknownError struct {
	Baseline, Candidate int

	// why ends a sentence about the comparison.
	why string
}

// Error names the builds.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("the comparison of build %d with build %d %s, and says nothing of either", e.Candidate, e.Baseline, e.why)
}

// Find finds the first build that is worse than the first of all.
func Find(builds int, compare Compare) (Found, error) {
	if builds < leastBuilds {
		return Found{}, errors.New("there is nothing between a good build and a bad one")
	}
	worse := func(baseline, candidate int) (bool, error) {
		made, err := compare(baseline, candidate)
		switch {
		case err != nil:
			return false, err
		case made.Verdict.Outcome == result.Failed:
			return false, &UnknownError{baseline, candidate, "failed"}
		case !made.Comparison.Tells():
			// It succeeded, as nothing is known to be worse: nor is anything known not to be.
			return false, &UnknownError{baseline, candidate, "is too uncertain in every figure"}
		}
		return made.Verdict.Outcome == result.Regressed, nil
	}
	good, bad := 0, builds-1
	if is, err := worse(good, bad); err != nil || !is {
		return Found{}, err
	}
	for bad-good > 1 {
		middle := (good + bad) / 2
		is, err := worse(0, middle)
		if err != nil {
			return Found{}, err
		}
		if is {
			bad = middle
		} else {
			good = middle
		}
	}
	if good == 0 {
		return Found{First: bad, Alone: true}, nil
	}
	alone, err := worse(good, bad)
	return Found{First: bad, Alone: alone}, err
}
