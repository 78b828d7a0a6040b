// SPDX-License-Identifier: Apache-2.0

package result

import (
	"cmp"
	"maps"
	"slices"
)

// Failures are transactions that came to nothing, by the reason that nodes say, as all
// nodes count them since they started. A reason that is absent has none. Blocks do not
// say reasons: which block's a failure is, nobody knows.
type Failures struct {
	// Failed were in chunks of finalised blocks, and failed when these were executed.
	Failed map[string]uint64 `json:"failed"`
	// Refused are those that a pool did not take, or that expired in it. One that was
	// sent again counts again, and one that another pool took is refused all the same.
	Refused map[string]uint64 `json:"refused"`
}

// Kinds of failures.
const (
	FailureFailed  = "failed"
	FailureRefused = "refused"
)

// Of are those of a kind.
func (f *Failures) Of(kind string) map[string]uint64 {
	if kind == FailureFailed {
		return f.Failed
	}
	return f.Refused
}

// FailureStep is what failed between two samples that follow each other of those that
// tell.
type FailureStep struct {
	// BeganMs is the time of the first, and EndedMs that of the second.
	BeganMs, EndedMs int64
	// Counts are by how many transactions each reason rose, without those that did not.
	Counts []FailureCount
}

// PerSecond is the rate of so many transactions in the step.
func (s *FailureStep) PerSecond(transactions uint64) float64 {
	return 1000 * float64(transactions) / float64(max(1, s.EndedMs-s.BeganMs))
}

// Count is how many transactions failed in the step for a reason.
func (s *FailureStep) Count(kind, reason string) uint64 {
	for _, count := range s.Counts {
		if count.Kind == kind && count.Reason == reason {
			return count.Transactions
		}
	}
	return 0
}

// FailureCount is how many transactions failed for a reason.
type FailureCount struct {
	Kind, Reason string
	Transactions uint64
}

// FailureSteps are what failed from sample to sample. What lies between two of which
// the second tells less is left out: a node started again.
func (r *Run) FailureSteps() []FailureStep {
	var steps []FailureStep
	var before *Sample
	for i := range r.Samples {
		sample := &r.Samples[i]
		if sample.Failures == nil {
			continue
		}
		if before != nil {
			if counts, ok := riseOf(before.Failures, sample.Failures); ok {
				steps = append(steps, FailureStep{BeganMs: before.TimeMs, EndedMs: sample.TimeMs, Counts: counts})
			}
		}
		before = sample
	}
	return steps
}

// riseOf is what failed between two times, the kinds and then the reasons in order.
func riseOf(first, last *Failures) ([]FailureCount, bool) {
	var counts []FailureCount
	for _, kind := range []string{FailureFailed, FailureRefused} {
		before, after := first.Of(kind), last.Of(kind)
		for reason := range before {
			if after[reason] < before[reason] {
				return nil, false
			}
		}
		for reason, count := range after {
			if rise := count - before[reason]; rise > 0 {
				counts = append(counts, FailureCount{Kind: kind, Reason: reason, Transactions: rise})
			}
		}
	}
	slices.SortFunc(counts, func(a, b FailureCount) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason))
	})
	return counts, true
}

// FailureReasons are the reasons of a kind that any of some steps has, in order.
func FailureReasons(steps []FailureStep, kind string) []string {
	reasons := map[string]bool{}
	for _, step := range steps {
		for _, count := range step.Counts {
			if count.Kind == kind {
				reasons[count.Reason] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(reasons))
}
