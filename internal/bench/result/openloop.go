// SPDX-License-Identifier: Apache-2.0

package result

import (
	"maps"
	"slices"
)

// KneePercent is how many in a hundred of the transfers of users are executed where
// a chain carries them.
const KneePercent = 98

// OpenLoop is what clients saw of a chain: users who each send a transfer in a fixed
// time, whatever becomes of it.
type OpenLoop struct {
	EveryMilliseconds int32 `json:"everyMilliseconds"`
	// Nodes is the number of nodes that users talked to.
	Nodes int `json:"nodes"`
	// KneeUsers is the highest number of users of whose transfers at least
	// KneePercent in a hundred were executed; absent if there is none.
	KneeUsers int32 `json:"kneeUsers,omitempty"`
	// Steps are the numbers of users, in their order, as far as they came to an end.
	Steps []OpenLoopStep `json:"steps"`
}

// OpenLoopStep is a number of users, and what became of what they sent.
type OpenLoopStep struct {
	Users int32 `json:"users"`
	// BeganMs is when the first transfer was due, and EndedMs when no more were.
	BeganMs int64 `json:"beganMs"`
	EndedMs int64 `json:"endedMs"`
	// Transfers are those of the whole step.
	Transfers ClientTransfers `json:"transfers"`
	// Window is the part of the step that its rates are of.
	Window Window `json:"window"`
	// OfferedPerSecond, AcceptedPerSecond and ToldPerSecond are how many transfers
	// were due, were taken by a pool and were known to be executed, by the loader.
	OfferedPerSecond  float64 `json:"offeredPerSecond"`
	AcceptedPerSecond float64 `json:"acceptedPerSecond"`
	ToldPerSecond     float64 `json:"toldPerSecond"`
	// ExecutedPerSecond is TPS, by finalised blocks; absent when they do not reach
	// that far.
	ExecutedPerSecond *float64 `json:"executedPerSecond,omitempty"`
	// ExecutedInBlocks are the transfers that the finalised blocks of the whole step
	// executed, until the loader had ended; absent when not all of them are known.
	ExecutedInBlocks *uint64 `json:"executedInBlocks,omitempty"`
	// AcceptedMs and ExecutedMs are the times from when transfers were due until a
	// pool took them, and until they were known to be executed.
	AcceptedMs Latency    `json:"acceptedMs"`
	ExecutedMs Latency    `json:"executedMs"`
	Saturation Saturation `json:"saturation"`
}

// ClientTransfers are the transfers of users. Each that was offered has one end: it
// is unsent, executed, refused, failed, expired or in flight.
type ClientTransfers struct {
	Offered uint64 `json:"offered"`
	// Unsent were due and never sent.
	Unsent uint64 `json:"unsent"`
	Sent   uint64 `json:"sent"`
	// Accepted were taken by a pool.
	Accepted uint64 `json:"accepted"`
	// Executed are known to be executed by a finalised block.
	Executed uint64 `json:"executed"`
	// Refused were not taken, and Failed are in a block that did not execute them, by
	// reason.
	Refused map[string]uint64 `json:"refused,omitempty"`
	Failed  map[string]uint64 `json:"failed,omitempty"`
	// Expired can be executed no more.
	Expired uint64 `json:"expired"`
	// InFlight are those of which nothing was known in the end.
	InFlight uint64 `json:"inFlight"`
	// NoAnswer were in requests without an answer, by what came instead. They have
	// another end besides.
	NoAnswer map[string]uint64 `json:"noAnswer,omitempty"`
}

// Latency are times in milliseconds.
type Latency struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
}

// Saturation is whether the loader was the limit, and not the chain.
type Saturation struct {
	Saturated bool `json:"saturated"`
	// ScheduleLagMs is by how much later transfers were sent than the answers before
	// them let the loader, and MissedTicks how many were much later.
	ScheduleLagMs Latency `json:"scheduleLagMs"`
	MissedTicks   uint64  `json:"missedTicks"`
	CPUSeconds    float64 `json:"cpuSeconds"`
	Cores         int     `json:"cores"`
}

// SuccessPercent is how many in a hundred transfers that were offered were executed.
func (t *ClientTransfers) SuccessPercent() float64 {
	if t.Offered == 0 {
		return 0
	}
	return 100 * float64(t.Executed) / float64(t.Offered)
}

// Failure is one way in which transfers came to another end than users want.
type Failure struct {
	// Kind is the end, and Reason what nodes say of it; empty where they say nothing.
	Kind, Reason string
	Transfers    uint64
}

// Class names the way.
func (f *Failure) Class() string {
	if f.Reason == "" {
		return f.Kind
	}
	return f.Kind + " (" + f.Reason + ")"
}

// Failures are the transfers that were not executed, by class. Together with those
// that were, they are all that were offered.
func (t *ClientTransfers) Failures() []Failure {
	var failures []Failure
	add := func(kind, reason string, transfers uint64) {
		if transfers > 0 {
			failures = append(failures, Failure{Kind: kind, Reason: reason, Transfers: transfers})
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(t.Refused)) {
		add("refused", reason, t.Refused[reason])
	}
	for _, reason := range slices.Sorted(maps.Keys(t.Failed)) {
		add("failed", reason, t.Failed[reason])
	}
	add("expired", "", t.Expired)
	add("in flight", "", t.InFlight)
	add("unsent", "", t.Unsent)
	return failures
}

// Unanswered are the transfers in requests without an answer, by what came instead.
func (t *ClientTransfers) Unanswered() []Failure {
	var unanswered []Failure
	for _, instead := range slices.Sorted(maps.Keys(t.NoAnswer)) {
		unanswered = append(unanswered, Failure{Kind: instead, Transfers: t.NoAnswer[instead]})
	}
	return unanswered
}

// Holds says that the chain carries that many users.
func (s *OpenLoopStep) Holds() bool {
	return s.Transfers.Offered > 0 && s.Transfers.SuccessPercent() >= KneePercent
}

// Knee is the step with the most users of those that the chain carries; nil if there
// is none.
func (o *OpenLoop) Knee() *OpenLoopStep {
	var knee *OpenLoopStep
	for i := range o.Steps {
		if step := &o.Steps[i]; step.Holds() && (knee == nil || step.Users > knee.Users) {
			knee = step
		}
	}
	return knee
}

// Best is the step of which most is executed in a second, by blocks; nil if there is
// none, or blocks do not tell of every step.
func (o *OpenLoop) Best() *OpenLoopStep {
	if o == nil {
		return nil
	}
	var best *OpenLoopStep
	for i := range o.Steps {
		step := &o.Steps[i]
		if step.ExecutedPerSecond == nil {
			return nil
		}
		if best == nil || *step.ExecutedPerSecond > *best.ExecutedPerSecond {
			best = step
		}
	}
	return best
}

// Last is the step that the figures of a run are of; nil if there is none.
func (o *OpenLoop) Last() *OpenLoopStep {
	if o == nil || len(o.Steps) == 0 {
		return nil
	}
	return &o.Steps[len(o.Steps)-1]
}
