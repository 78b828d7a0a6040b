// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/control"
)

const interval = time.Second

func newController(target time.Duration, initial, most int64) *control.Controller {
	return control.New(&v1alpha1.ClosedLoopLoad{
		TargetBlockTimeMilliseconds: int32(target.Milliseconds()), InitialTransfersPerSecond: initial,
		MaxTransfersPerSecond: most, MaxBacklogBlocks: 4, MaxSettleSeconds: 300,
	})
}

// drive has a controller and a chain run for some time, and returns the decisions.
func drive(chain *model, controller *control.Controller, span time.Duration) []control.Decision {
	var decisions []control.Decision
	for end := chain.now.Add(span); chain.now.Before(end); {
		decision := controller.Step(chain.observe())
		decisions = append(decisions, decision)
		chain.run(float64(decision.TransfersPerSecond), interval)
	}
	return decisions
}

// measured is what a chain did in some time: transfers per second and the mean
// block time.
func measured(chain *model, controller *control.Controller, span time.Duration) (float64, time.Duration, []control.Decision) {
	executed, height, from := chain.executed, chain.height, chain.finalized
	decisions := drive(chain, controller, span)
	elapsed := chain.finalized.Sub(from)
	return (chain.executed - executed) / elapsed.Seconds(), elapsed / time.Duration(max(1, chain.height-height)), decisions
}

// near says that something is within a twentieth of what it should be.
func near(got, want float64) bool { return math.Abs(got-want) <= want/20 }

func firstSteady(decisions []control.Decision) (time.Duration, bool) {
	for i, decision := range decisions {
		if decision.Steady {
			return time.Duration(i) * interval, true
		}
	}
	return 0, false
}

// The rate at which blocks take as long as they should is found, from below and
// from above, on fast and on slow chains, and kept.
func TestFindsTheRate(t *testing.T) {
	t.Parallel()
	laptop := model{fixed: 600 * time.Millisecond, capacity: 12_000, jitter: 0.1}
	with := func(change func(*model)) model {
		changed := laptop
		change(&changed)
		return changed
	}
	cases := map[string]struct {
		chain   model
		target  time.Duration
		initial int64
	}{
		"a laptop":        {laptop, 1500 * time.Millisecond, 2_000},
		"without noise":   {with(func(chain *model) { chain.jitter = 0 }), 1500 * time.Millisecond, 2_000},
		"with more noise": {with(func(chain *model) { chain.jitter = 0.2 }), 1500 * time.Millisecond, 2_000},
		"from above":      {laptop, 1500 * time.Millisecond, 11_000},
		"far below":       {laptop, 1500 * time.Millisecond, 100},
		"close to empty blocks": {
			with(func(chain *model) { chain.fixed, chain.jitter = 1200*time.Millisecond, 0.02 }), 1500 * time.Millisecond, 500,
		},
		"far from empty blocks": {
			with(func(chain *model) { chain.fixed = 200 * time.Millisecond }), 1500 * time.Millisecond, 2_000,
		},
		"short blocks": {with(func(chain *model) { chain.fixed = 100 * time.Millisecond }), 250 * time.Millisecond, 2_000},
		"long blocks":  {with(func(chain *model) { chain.fixed = 2 * time.Second }), 6 * time.Second, 2_000},
		"140 machines": {
			model{fixed: 700 * time.Millisecond, capacity: 2_000_000, jitter: 0.05, shards: 70}, 1500 * time.Millisecond, 100_000,
		},
		"a least time that hides how fast blocks are": {
			with(func(chain *model) { chain.fixed, chain.minBlock = 150*time.Millisecond, 600*time.Millisecond }),
			1500 * time.Millisecond, 2_000,
		},
		"a least time of blocks": {
			with(func(chain *model) { chain.fixed, chain.minBlock = 300*time.Millisecond, 600*time.Millisecond }),
			1500 * time.Millisecond, 2_000,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := &test.chain
			chain.start()
			controller := newController(test.target, test.initial, 10_000_000)
			settling, ok := firstSteady(drive(chain, controller, 150*test.target))
			if !ok {
				t.Fatalf("the rate is not steady after %s", 150*test.target)
			}
			rate, blockTime, decisions := measured(chain, controller, 80*test.target)
			if want := chain.steady(test.target); !near(rate, want) {
				t.Errorf("%.0f transfers per second are executed, want about %.0f", rate, want)
			}
			if !near(blockTime.Seconds(), test.target.Seconds()) {
				t.Errorf("blocks take %s, want about %s", blockTime, test.target)
			}
			for _, decision := range decisions {
				if decision.State != control.StateFollowing {
					t.Fatalf("the controller is %s on a chain that carries its load", decision.State)
				}
			}
			t.Logf("steady after %s, %.0f transfers per second, blocks of %s", settling, rate, blockTime)
		})
	}
}

// Runs on a machine that others use agree, on a chain whose least block time hides
// that it sums up nearly all that is too much, and whose transfers take longer in
// larger blocks, so that left alone it runs away from any rate that it is given. That
// the machine is late with a block now and then changes what the chain carries by a
// hundredth, and their number by a little more.
func TestRunsAgree(t *testing.T) {
	t.Parallel()
	const late = 400 * time.Millisecond
	cases := map[string]struct {
		target time.Duration
		growth float64
		late   time.Duration
		// off is how far from the target blocks may be, as a share of it, and spread
		// how far runs may be apart, in percent.
		off, spread float64
	}{
		"that only sums up":                       {1500 * time.Millisecond, 0, 0, 0.03, 3},
		"that nearly runs away":                   {time.Second, 0.1, 0, 0.03, 3},
		"that runs away":                          {time.Second, 0.3, 0, 0.05, 3},
		"that runs away further":                  {1500 * time.Millisecond, 0.2, 0, 0.07, 3},
		"that only sums up, with late blocks":     {time.Second, 0, late, 0.03, 4},
		"that nearly runs away, with late blocks": {time.Second, 0.1, late, 0.03, 4},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const runs = 10
			rates := make([]float64, 0, runs)
			for seed := range uint64(runs) {
				chain := &model{
					fixed: 100 * time.Millisecond, minBlock: 600 * time.Millisecond, capacity: 14_000, shards: 4, jitter: 0.1,
					// That alone is about two percent between ten runs of three minutes.
					drift: 0.01, growth: test.growth, late: test.late, seed: seed,
				}
				chain.start()
				controller := newController(test.target, 2_000, 50_000)
				if _, ok := firstSteady(drive(chain, controller, 4*time.Minute)); !ok {
					t.Errorf("run %d: the rate is not steady after four minutes", seed)
				}
				rate, blockTime, _ := measured(chain, controller, 3*time.Minute)
				if math.Abs(blockTime.Seconds()/test.target.Seconds()-1) > test.off {
					t.Errorf("run %d: blocks take %s, want about %s", seed, blockTime, test.target)
				}
				rates = append(rates, rate)
			}
			slices.Sort(rates)
			spread := 100 * (rates[runs-1] - rates[0]) / rates[runs/2]
			t.Logf("%.0f transfers per second, %.2f%% apart", rates[runs/2], spread)
			if spread > test.spread {
				t.Errorf("the runs are %.2f%% apart", spread)
			}
		})
	}
}

// A chain that becomes slower, or faster, is followed, and does not fall over.
func TestFollowsAChange(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{0.6, 0.8, 1.3} {
		chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000, jitter: 0.1}
		chain.start()
		target := 1500 * time.Millisecond
		controller := newController(target, 2_000, 1_000_000)
		drive(chain, controller, 3*time.Minute)
		chain.capacity *= factor
		for _, decision := range drive(chain, controller, 2*time.Minute) {
			if decision.State != control.StateFollowing {
				t.Fatalf("the controller is %s on a chain of %.1f times the capacity", decision.State, factor)
			}
		}
		if rate, _, _ := measured(chain, controller, time.Minute); !near(rate, chain.steady(target)) {
			t.Errorf("at %.1f times the capacity, %.0f transfers per second are executed, want about %.0f",
				factor, rate, chain.steady(target))
		}
	}
}

// A chain that takes no more than so many transfers in a block is given what it
// takes: what waits in its pools says so, and not the block time.
func TestFullChunks(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 500 * time.Millisecond, capacity: 50_000, chunkMost: 1_000, shards: 4, jitter: 0.05}
	chain.start()
	controller := newController(1500*time.Millisecond, 1_000, 1_000_000)
	decisions := drive(chain, controller, 5*time.Minute)
	rate, _, more := measured(chain, controller, 2*time.Minute)
	// 4,000 transfers in each block of 580 ms.
	if want := 4_000 / 0.58; !near(rate, want) {
		t.Errorf("%.0f transfers per second are executed, want about %.0f", rate, want)
	}
	for _, decision := range append(decisions[120:], more...) {
		if decision.BacklogSeconds > 1.5*6 {
			t.Fatalf("%.1f s of work wait in the pools, allowed are 6 s", decision.BacklogSeconds)
		}
	}
	if _, ok := firstSteady(more); !ok {
		t.Error("the rate is not steady")
	}
}

// The most that may be asked for is not exceeded, and being there is steady. When
// the chain becomes slower, the rate leaves the bound without delay.
func TestBound(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000, jitter: 0.1}
	chain.start()
	controller := newController(1500*time.Millisecond, 1_000, 5_000)
	decisions := drive(chain, controller, 10*time.Minute)
	for _, decision := range decisions {
		if decision.TransfersPerSecond > 5_000 {
			t.Fatalf("%d transfers per second are asked for, the most is 5,000", decision.TransfersPerSecond)
		}
	}
	if last := decisions[len(decisions)-1]; !last.Steady || last.TransfersPerSecond != 5_000 {
		t.Errorf("the last decision is %+v, want a steady 5,000", last)
	}
	chain.capacity = 4_000
	drive(chain, controller, 30*time.Second)
	if rate := controller.Step(chain.observe()).TransfersPerSecond; rate > 4_000 {
		t.Errorf("30 s after the chain lost two thirds of its capacity, %d transfers per second are asked for", rate)
	}
}

// A chain that does not feel the most that may be asked for is given that, and it is
// steady.
func TestBoundThatIsNotFelt(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 250 * time.Millisecond, capacity: 12_000, jitter: 0.1}
	chain.start()
	decisions := drive(chain, newController(1500*time.Millisecond, 40, 50), time.Minute)
	if last := decisions[len(decisions)-1]; !last.Steady || last.TransfersPerSecond != 50 || last.State != control.StateFollowing {
		t.Errorf("the last decision is %+v, want a steady 50", last)
	}
}

// Generators that do not keep up are not asked for more.
func TestGeneratorsAreTheLimit(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000, signing: 3_000}
	chain.start()
	controller := newController(1500*time.Millisecond, 2_500, 1_000_000)
	decisions := drive(chain, controller, 5*time.Minute)
	last := decisions[len(decisions)-1]
	if last.State != control.StateLimited || last.TransfersPerSecond > 4_000 {
		t.Errorf("the last decision is %+v, want Limited, not far above 3,000", last)
	}
	if !last.Steady {
		t.Error("what generators sign at most is not steady")
	}
}

// A chain that misses what takes too long executes little under far too much load,
// for as long as it lasts. Given that, the controller has it carry more, and from
// then on it misses next to nothing.
func TestComesBackFromCollapse(t *testing.T) {
	t.Parallel()
	falling := func() *model {
		chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000, chunkMost: 20_000, shards: 4, wait: 900 * time.Millisecond}
		chain.start()
		return chain
	}
	const minutes = 5
	open := falling()
	open.run(30_000, minutes*time.Minute)
	overloaded := open.executed / minutes / 60

	chain := falling()
	chain.run(30_000, 20*time.Second)
	controller := newController(1200*time.Millisecond, 30_000, 1_000_000)
	if decisions := drive(chain, controller, 5*time.Minute); !hasState(decisions, control.StateRecovering) {
		t.Error("the controller never lets it recover")
	}
	missed, height := chain.missed, chain.height
	rate, _, _ := measured(chain, controller, minutes*time.Minute)
	t.Logf("%.0f transfers per second under far too much load, %.0f with a controller", overloaded, rate)
	if want := chain.steady(1200 * time.Millisecond); rate < 1.2*overloaded || !near(rate, want) {
		t.Errorf("%.0f transfers per second are executed, want about %.0f; under far too much load they are %.0f",
			rate, want, overloaded)
	}
	if share := float64(chain.missed-missed) / float64(4*(chain.height-height)); share > 0.01 {
		t.Errorf("%.1f%% of the chunks are missed", 100*share)
	}
}

// While the chain stands still nothing is asked for, and then not all at once.
func TestStandstill(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000, jitter: 0.1}
	chain.start()
	controller := newController(1500*time.Millisecond, 2_000, 1_000_000)
	before := drive(chain, controller, 3*time.Minute)
	chain.stopped = true
	pooled := chain.pool
	decisions := drive(chain, controller, time.Minute)
	if last := decisions[len(decisions)-1]; last.State != control.StatePaused || last.TransfersPerSecond != 0 || last.Steady {
		t.Errorf("after a minute without a block the decision is %+v", last)
	}
	rate := float64(before[len(before)-1].TransfersPerSecond)
	if waits := chain.pool - pooled; waits > 7*rate {
		t.Errorf("%.0f transfers were signed for a chain that stands still", waits)
	}
	chain.stopped = false
	again := drive(chain, controller, 3*time.Minute)
	if first := firstNonZero(again); float64(first) > 0.6*rate {
		t.Errorf("it goes on with %d transfers per second, and had %.0f", first, rate)
	}
	if after, _, _ := measured(chain, controller, time.Minute); !near(after, chain.steady(1500*time.Millisecond)) {
		t.Errorf("%.0f transfers per second are executed three minutes later", after)
	}
}

// After a standstill, the rate is soon what it was, with a least block time as well,
// below which blocks do not tell how little the chain is given.
func TestComesBackFromStandstill(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 120 * time.Millisecond, minBlock: 600 * time.Millisecond, capacity: 14_000, shards: 4, jitter: 0.1}
	chain.start()
	controller := newController(time.Second, 2_000, 50_000)
	drive(chain, controller, 2*time.Minute)
	for range 3 {
		chain.due = chain.now.Add(4 * time.Second)
		drive(chain, controller, 30*time.Second)
		if rate, _, _ := measured(chain, controller, 30*time.Second); !near(rate, chain.steady(time.Second)) {
			t.Errorf("half a minute after a standstill of 4 s, %.0f transfers per second are executed, want about %.0f",
				rate, chain.steady(time.Second))
		}
	}
}

// A chain that stands still while it recovers goes on from what it executed before,
// and not from nothing.
func TestStandstillWhileRecovering(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000, chunkMost: 20_000, shards: 4, wait: 900 * time.Millisecond}
	chain.start()
	chain.run(30_000, 20*time.Second)
	controller := newController(1200*time.Millisecond, 30_000, 1_000_000)
	for recovering := false; !recovering; {
		decision := controller.Step(chain.observe())
		recovering = decision.State == control.StateRecovering
		if chain.run(float64(decision.TransfersPerSecond), interval); chain.height > 500 {
			t.Fatal("the controller never lets it recover")
		}
	}
	chain.stopped = true
	if decisions := drive(chain, controller, 10*time.Second); !hasState(decisions, control.StatePaused) {
		t.Fatal("the controller is not paused")
	}
	chain.stopped = false
	if first := firstNonZero(drive(chain, controller, 10*time.Second)); first < 500 {
		t.Errorf("it goes on with %d transfers per second", first)
	}
}

// A chain that loses most of its capacity while its least block time hides how little
// it is given is not given far too much again and again.
func TestLosesMostOfItsCapacity(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 100 * time.Millisecond, minBlock: 600 * time.Millisecond, capacity: 14_000, shards: 4, jitter: 0.1}
	chain.start()
	controller := newController(time.Second, 2_000, 50_000)
	drive(chain, controller, 3*time.Minute)
	chain.capacity *= 0.3
	drive(chain, controller, time.Minute)
	rate, blockTime, decisions := measured(chain, controller, 2*time.Minute)
	if want := chain.steady(time.Second); !near(rate, want) || !near(blockTime.Seconds(), 1) {
		t.Errorf("%.0f transfers per second are executed in blocks of %s, want about %.0f in blocks of 1s", rate, blockTime, want)
	}
	for _, decision := range decisions {
		if decision.State != control.StateFollowing {
			t.Fatalf("the controller is %s", decision.State)
		}
	}
}

// However long nobody looked at a chain that goes on, the rate changes by no more than
// it does while a standstill is waited for.
func TestNobodyLooks(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 300 * time.Millisecond, capacity: 50_000}
	chain.start()
	controller := newController(time.Second, 2_000, 1_000_000)
	decisions := drive(chain, controller, 8*time.Second)
	before := float64(decisions[len(decisions)-1].TransfersPerSecond)
	chain.run(before, 20*time.Second)
	if after := float64(controller.Step(chain.observe()).TransfersPerSecond); after > 1.5*before {
		t.Errorf("after 20 s without a look, %.0f transfers per second are asked for, and were %.0f", after, before)
	}
}

// A node that starts anew tells smaller totals; nothing is made of that.
func TestTotalsThatFall(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000}
	chain.start()
	controller := newController(1500*time.Millisecond, 2_000, 1_000_000)
	drive(chain, controller, 3*time.Minute)
	chain.overdue, chain.missed = 0, 0
	for _, decision := range drive(chain, controller, time.Minute) {
		if decision.TransfersPerSecond < 1 || decision.State != control.StateFollowing {
			t.Fatalf("the decision is %+v", decision)
		}
	}
}

func hasState(decisions []control.Decision, state control.State) bool {
	for _, decision := range decisions {
		if decision.State == state {
			return true
		}
	}
	return false
}

func firstNonZero(decisions []control.Decision) int64 {
	for _, decision := range decisions {
		if decision.TransfersPerSecond > 0 {
			return decision.TransfersPerSecond
		}
	}
	return 0
}
