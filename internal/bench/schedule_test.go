// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
)

func ramp(steps ...v1alpha1.RampStep) *v1alpha1.LoadSpec {
	return &v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{Steps: steps}}
}

func rampStep(rate int64, seconds int32) v1alpha1.RampStep {
	return v1alpha1.RampStep{TransfersPerSecond: ptr.To(rate), DurationSeconds: seconds}
}

func schedule(t *testing.T, load *v1alpha1.LoadSpec) bench.Schedule {
	t.Helper()
	schedule, err := bench.NewSchedule(load)
	if err != nil {
		t.Fatal(err)
	}
	return schedule
}

func TestRate(t *testing.T) {
	t.Parallel()
	load := ramp(rampStep(1000, 3), rampStep(0, 2), rampStep(6000, 60))
	cases := map[string]struct {
		load    *v1alpha1.LoadSpec
		elapsed time.Duration
		want    int64
	}{
		"no load":                   {nil, time.Hour, 0},
		"begins with the first":     {load, 0, 1000},
		"just before the next step": {load, 3*time.Second - 1, 1000},
		"at the next step":          {load, 3 * time.Second, 0},
		"in the last step":          {load, 5 * time.Second, 6000},
		"after the last step":       {load, 24 * time.Hour, 6000},
		"the clock went back":       {load, -time.Second, 0},
		"the longest schedule there is": {
			ramp(rampStep(1, 604_800), rampStep(2, 604_800)), 604_800 * time.Second, 2,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := schedule(t, test.load).Rate(test.elapsed); got != test.want {
				t.Errorf("the rate after %s is %d, want %d", test.elapsed, got, test.want)
			}
		})
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	if got := schedule(t, nil).Settled(); got != 0 {
		t.Errorf("no load settles after %s, want at once", got)
	}
	load := ramp(rampStep(1000, 3), rampStep(3000, 4), rampStep(6000, 60))
	if got, want := schedule(t, load).Settled(), 7*time.Second; got != want {
		t.Errorf("the load settles after %s, want %s", got, want)
	}
}

func TestConstant(t *testing.T) {
	t.Parallel()
	rate := int64(700)
	load := schedule(t, &v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: &rate},
	})
	if load.Rate(0) != 700 || load.Rate(time.Hour) != 700 || load.Settled() != 0 {
		t.Errorf("a constant load is %d at first and %d after an hour, settled after %s",
			load.Rate(0), load.Rate(time.Hour), load.Settled())
	}
}

func TestImpossibleLoads(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]*v1alpha1.LoadSpec{
		"unknown profile": {Profile: "Sawtooth"},
		"no ramp":         {Profile: v1alpha1.LoadProfileRamp},
		"no constant":     {Profile: v1alpha1.LoadProfileConstant},
		"a closed loop":   {Profile: v1alpha1.LoadProfileClosedLoop, ClosedLoop: &v1alpha1.ClosedLoopLoad{}},
		"no rate":         ramp(v1alpha1.RampStep{DurationSeconds: 1}),
	} {
		if _, err := bench.NewSchedule(load); err == nil {
			t.Errorf("%s: makes a schedule, want an error", name)
		}
	}
}

// Whoever applies the rate at the beginning and whenever Next says so has
// applied every step, in order, and the rate never changes in between.
func TestNextVisitsEveryStep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) v1alpha1.RampStep {
			return rampStep(rapid.Int64Range(0, math.MaxInt32).Draw(t, "rate"), rapid.Int32Range(1, 604_800).Draw(t, "seconds"))
		}), 1, 64).Draw(t, "steps")
		schedule, err := bench.NewSchedule(ramp(steps...))
		if err != nil {
			t.Fatal(err)
		}

		var at, begin time.Duration
		for i, step := range steps {
			if at != begin {
				t.Fatalf("step %d begins after %s, want %s", i, at, begin)
			}
			if got := schedule.Rate(at); got != *step.TransfersPerSecond {
				t.Fatalf("the rate of step %d is %d, want %d", i, got, *step.TransfersPerSecond)
			}
			begin += time.Duration(step.DurationSeconds) * time.Second
			if got := schedule.Rate(begin - 1); got != *step.TransfersPerSecond {
				t.Fatalf("the rate at the end of step %d is %d, want %d", i, got, *step.TransfersPerSecond)
			}
			next, ok := schedule.Next(at)
			if last := i == len(steps)-1; ok == last {
				t.Fatalf("step %d of %d has a next step: %t", i, len(steps), ok)
			}
			at = next
		}
	})
}

// A load settles when all producers say that they sign its last step, and stays there.
func TestSettles(t *testing.T) {
	t.Parallel()
	load := ramp(rampStep(1000, 3), rampStep(6000, 60))
	const patience = 30 * time.Second
	for name, test := range map[string]struct {
		signed         int64
		known, settled bool
		elapsed        time.Duration
		settles        bool
		fault          string
	}{
		"before its last step":             {1000, true, false, 3*time.Second - 1, false, ""},
		"at its last step already":         {6000, true, false, 3*time.Second - 1, false, ""},
		"told before they sign it":         {1000, true, false, 3 * time.Second, false, ""},
		"when they sign it":                {6000, true, false, 3 * time.Second, true, ""},
		"not all say it":                   {6000, false, false, 3 * time.Second, false, ""},
		"as late as may be":                {4500, true, false, 33 * time.Second, false, ""},
		"late, and all the same":           {6000, true, false, 34 * time.Second, true, ""},
		"later than may be":                {4500, true, false, 34 * time.Second, false, "30s after they should sign 6000"},
		"later, and one does not say it":   {6000, false, false, 34 * time.Second, false, "not all producers said within 30s"},
		"where it stays":                   {6000, true, true, time.Hour, false, ""},
		"where one does not say it":        {4500, false, true, time.Hour, false, ""},
		"where one signs something else":   {4500, true, true, 4 * time.Second, false, "sign 4500 transfers per second, and should sign 6000"},
		"with a clock that went far back":  {0, true, false, -time.Hour, false, ""},
		"where a clock went back, settled": {6000, true, true, -time.Hour, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settles, fault := schedule(t, load).Settles(test.signed, test.known, test.settled, test.elapsed, patience)
			if settles != test.settles || (fault == "") != (test.fault == "") || !strings.Contains(fault, test.fault) {
				t.Errorf("it settles: %t, with the fault %q, want %t and %q", settles, fault, test.settles, test.fault)
			}
		})
	}
}
