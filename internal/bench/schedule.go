// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Schedule is the load of a network over time. The zero value is no load.
type Schedule struct {
	steps []step
}

// step is one rate of a schedule and when it begins.
type step struct {
	begin time.Duration
	rate  int64
}

// NewSchedule makes the schedule of a load spec; without one, there is no load.
func NewSchedule(load *v1alpha1.LoadSpec) (Schedule, error) {
	switch {
	case load == nil:
		return Schedule{}, nil
	case load.Profile == v1alpha1.LoadProfileRamp && load.Ramp != nil:
		return newRamp(load.Ramp)
	case load.Profile == v1alpha1.LoadProfileConstant && load.Constant != nil && load.Constant.TransfersPerSecond != nil:
		return Schedule{steps: []step{{rate: *load.Constant.TransfersPerSecond}}}, nil
	default:
		return Schedule{}, fmt.Errorf("load profile %q has no schedule", load.Profile)
	}
}

// newRamp makes the schedule of a load in steps.
func newRamp(load *v1alpha1.RampLoad) (Schedule, error) {
	steps := make([]step, 0, len(load.Steps))
	var begin time.Duration
	for i, ramp := range load.Steps {
		if ramp.TransfersPerSecond == nil {
			return Schedule{}, fmt.Errorf("step %d of the ramp has no rate", i)
		}
		steps = append(steps, step{begin: begin, rate: *ramp.TransfersPerSecond})
		begin += time.Duration(ramp.DurationSeconds) * time.Second
	}
	return Schedule{steps: steps}, nil
}

// Rate is the rate of the whole network, in transfers per second, some time
// after the load began. The last step's rate is kept.
func (s Schedule) Rate(elapsed time.Duration) int64 {
	var rate int64
	for _, step := range s.steps {
		if step.begin > elapsed {
			break
		}
		rate = step.rate
	}
	return rate
}

// Next is when the next step begins; false when there is none.
func (s Schedule) Next(elapsed time.Duration) (time.Duration, bool) {
	for _, step := range s.steps {
		if step.begin > elapsed {
			return step.begin, true
		}
	}
	return 0, false
}

// Settled is when the last step begins: the rate is the same from then on.
func (s Schedule) Settled() time.Duration {
	if len(s.steps) == 0 {
		return 0
	}
	return s.steps[len(s.steps)-1].begin
}

// Settles says whether the producers have come to the last step, some time after the load
// began, by the rate that they said last that they sign, and whether all of them have said
// it since. The fault is that they do not come to it within a patience, or, once they
// had settled, do not stay there.
func (s Schedule) Settles(signed int64, known, settled bool, elapsed, patience time.Duration) (settles bool, fault string) {
	rate, late := s.Rate(s.Settled()), elapsed-s.Settled()
	switch {
	case settled && known && signed != rate:
		return false, fmt.Sprintf("the producers sign %d transfers per second, and should sign %d", signed, rate)
	case settled || late < 0:
		return false, ""
	case known && signed == rate:
		return true, ""
	case late > patience && signed == rate:
		return false, fmt.Sprintf("not all producers said within %s that they sign their share of %d transfers per second", patience, rate)
	case late > patience:
		return false, fmt.Sprintf("the producers sign %d transfers per second %s after they should sign %d", signed, patience, rate)
	default:
		return false, ""
	}
}
