// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"math"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// The states of a search.
const (
	// StateTrying holds a rate until it is known whether it holds.
	StateTrying State = "Trying"
	// StateDraining waits for the pools to be empty after a rate that does not hold.
	StateDraining State = "Draining"
	// StateFound offers what is to be measured.
	StateFound State = "Found"
	// StateNothing offers nothing: not even one transfer a second holds.
	StateNothing State = "Nothing"
)

const (
	// leastExecuted is the share of what is offered that has to be executed for a
	// rate to hold, mostMissed the share of chunks that may be missed, and mostLate
	// the share of what is offered that generators may be too late for.
	leastExecuted = 0.98
	mostMissed    = 0.01
	mostLate      = 0.01

	// mostGrown is the share of what is offered by which what waits in the pools may
	// grow, beside what is offered in one block time.
	mostGrown = 0.03

	// raise is the factor between rates until one does not hold, or one does.
	raise = 2

	// hopeless is the part of a step's transfers that may wait in the pools before
	// it is over.
	hopeless = 0.5
)

// Search finds the highest rate that a chain carries when it is left as it is.
type Search struct {
	most      int64
	precision float64
	offered   float64
	step      time.Duration

	state State
	rate  int64
	// low is the highest rate that is known to hold, and high the lowest one that is
	// known not to; 0 for none.
	low, high int64
	// began is when the step began, and middle what was seen in its middle.
	began  time.Time
	middle *Observation
	window window
	steps  []result.SearchStep
}

// NewSearch makes the search of a load.
func NewSearch(spec *v1alpha1.SearchLoad) *Search {
	return &Search{
		most:      spec.MaxTransfersPerSecond,
		precision: float64(spec.PrecisionPercent) / 100,
		offered:   float64(spec.OfferedPercent) / 100,
		step:      time.Duration(spec.StepSeconds) * time.Second,
		state:     StateTrying,
		rate:      spec.InitialTransfersPerSecond,
	}
}

// Step takes an observation. Times of observations do not run backwards.
func (s *Search) Step(observation Observation) Decision {
	s.window.add(observation)
	switch s.state {
	case StateTrying:
		s.try(&observation)
	case StateDraining:
		if observation.Pooled == 0 {
			s.offer(s.next())
		}
	default:
		// What was found is offered from then on.
	}
	return s.decide(&observation)
}

// Result is what the search came to so far.
func (s *Search) Result() *result.Search {
	found := &result.Search{Steps: s.steps}
	if s.state == StateFound {
		found.HeldPerSecond = s.low
	}
	return found
}

func (s *Search) decide(observation *Observation) Decision {
	decision := Decision{State: s.state, TransfersPerSecond: s.rate, Steady: s.state == StateFound}
	if s.window.full() {
		decision.BlockTime, decision.MissedShare = s.window.blockTime(), s.window.missed()
	}
	if s.rate > 0 {
		decision.BacklogSeconds = float64(observation.Pooled) / float64(s.rate)
	}
	return decision
}

// try goes on with a step, and judges it once it is over.
func (s *Search) try(observation *Observation) {
	if s.began.IsZero() {
		s.began = observation.At
	}
	elapsed := observation.At.Sub(s.began)
	if s.middle == nil && elapsed >= s.step/2 {
		middle := *observation
		s.middle = &middle
	}
	switch {
	case float64(observation.Pooled) > hopeless*float64(s.rate)*s.step.Seconds():
		waits := float64(observation.Pooled) / float64(s.rate)
		s.conclude(observation, false, fmt.Sprintf("what is offered in %.0f s waits in the pools", waits))
	// Also where nothing was seen for so long that its middle came late.
	case s.middle != nil && observation.At.Sub(s.middle.At) >= s.step/2:
		holds, words := s.judge(observation)
		s.conclude(observation, holds, words)
	}
}

// judge says whether the rate holds, by the second half of its step.
func (s *Search) judge(last *Observation) (holds bool, words string) {
	half := window{seen: []Observation{*s.middle, *last}}
	if last.FinalizedHeight <= s.middle.FinalizedHeight || half.span() <= 0 {
		return false, "no block was finalised"
	}
	rate := float64(s.rate)
	due := rate * last.At.Sub(s.middle.At).Seconds()
	executed := half.executedPerSecond() / rate
	grown := float64(last.Pooled) - float64(s.middle.Pooled)
	switch late := float64(half.overdue()) / due; {
	case late > mostLate:
		return false, fmt.Sprintf("the generators are too late for %.1f%% of it: they are the limit, and not the chain", 100*late)
	case half.missed() > mostMissed:
		return false, fmt.Sprintf("%.1f%% of the chunks are missed", 100*half.missed())
	case executed < leastExecuted:
		return false, fmt.Sprintf("%.1f%% of it is executed", 100*executed)
	case grown > rate*half.blockTime().Seconds()+mostGrown*due:
		return false, fmt.Sprintf("what waits in the pools grows by %.0f transfers", grown)
	default:
		return true, fmt.Sprintf("%.1f%% of it is executed, in blocks that take %d ms", 100*executed, half.blockTime().Milliseconds())
	}
}

// conclude ends a step.
func (s *Search) conclude(last *Observation, holds bool, words string) {
	step := result.SearchStep{
		TransfersPerSecond: s.rate, BeganMs: s.began.UnixMilli(), EndedMs: last.At.UnixMilli(), Holds: holds, Words: words,
	}
	if s.middle != nil {
		half := window{seen: []Observation{*s.middle, *last}}
		step.ExecutedPerSecond = half.executedPerSecond()
	}
	s.steps = append(s.steps, step)
	s.began, s.middle = time.Time{}, nil
	if holds {
		s.low = s.rate
		s.offer(s.next())
		return
	}
	s.high = s.rate
	s.state, s.rate = StateDraining, 0
}

// offer goes on with the next rate to try, or with what was found.
func (s *Search) offer(rate int64) {
	switch {
	case rate > 0:
		s.state, s.rate = StateTrying, rate
	case s.low > 0:
		s.state, s.rate = StateFound, max(1, int64(math.Round(s.offered*float64(s.low))))
	default:
		s.state, s.rate = StateNothing, 0
	}
}

// next is the next rate to try; 0 when there is none.
func (s *Search) next() int64 {
	low, high := float64(s.low), float64(s.high)
	switch {
	case s.high == 0 && s.low >= s.most:
		return 0
	case s.high == 0:
		return min(raise*s.low, s.most)
	case s.low == 0:
		return s.high / raise
	case high <= low*(1+s.precision):
		return 0
	default:
		middle := int64(math.Round(math.Sqrt(low * high)))
		if middle <= s.low || middle >= s.high {
			return 0
		}
		return middle
	}
}
