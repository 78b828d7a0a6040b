// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/control"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

func newSearch(initial, most int64) *control.Search {
	return control.NewSearch(&v1alpha1.SearchLoad{
		InitialTransfersPerSecond: initial, MaxTransfersPerSecond: most, StepSeconds: 20, PrecisionPercent: 5, OfferedPercent: 100,
	})
}

// search has a search and a chain run until the search has come to its end.
func search(t *testing.T, chain *model, searching *control.Search) control.Decision {
	t.Helper()
	for end := chain.now.Add(30 * time.Minute); chain.now.Before(end); {
		decision := searching.Step(chain.observe())
		if decision.Steady || decision.State == control.StateNothing {
			return decision
		}
		chain.run(float64(decision.TransfersPerSecond), interval)
	}
	t.Fatalf("the search has not ended after half an hour: %+v", searching.Result())
	return control.Decision{}
}

// limited is a chain whose blocks are full at 5,000 transfers, and so carries 4,918
// a second at the most, whoever asks for how long.
func limited() *model {
	chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000, chunkMost: 5_000, jitter: 0.05}
	chain.start()
	return chain
}

const most = 5_000 / (0.6 + 5_000/12_000.0)

// The highest rate is found from below and from above, to the precision that it is
// to have, and between two rates of which one holds and one does not.
func TestSearchFindsTheHighestRate(t *testing.T) {
	t.Parallel()
	for name, initial := range map[string]int64{"below": 1_000, "far below": 10, "above": 6_000, "far above": 100_000, "there": 4_900} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain, searching := limited(), newSearch(initial, 1_000_000)
			decision := search(t, chain, searching)
			found := searching.Result()
			rate := float64(found.HeldPerSecond)
			// What is taken for holding may be as much above what is carried as rates are
			// allowed to be executed less than all.
			if decision.TransfersPerSecond != found.HeldPerSecond || rate < 0.93*most || rate > 1.04*most {
				t.Errorf("%d transfers per second hold, of %.0f: %+v", found.HeldPerSecond, float64(most), found.Steps)
			}
			checkSteps(t, found)
		})
	}
}

// checkSteps checks that steps follow each other, and that what was found lies
// between what holds and what does not.
func checkSteps(t *testing.T, found *result.Search) {
	t.Helper()
	var lowest, highest, ended int64
	for _, step := range found.Steps {
		if step.BeganMs < ended || step.EndedMs <= step.BeganMs || step.Words == "" {
			t.Errorf("a step is %+v, after one that ended at %d", step, ended)
		}
		ended = step.EndedMs
		switch {
		case step.Holds:
			highest = max(highest, step.TransfersPerSecond)
		case lowest == 0 || step.TransfersPerSecond < lowest:
			lowest = step.TransfersPerSecond
		}
	}
	if highest != found.HeldPerSecond || float64(lowest) > 1.05*float64(highest)+1 {
		t.Errorf("%d holds, %d does not, and %d was found", highest, lowest, found.HeldPerSecond)
	}
}

// What a search finds, a chain carries for an hour: nothing waits that is not
// executed.
func TestWhatIsFoundHolds(t *testing.T) {
	t.Parallel()
	for name, chain := range map[string]*model{
		"a laptop":      {fixed: 600 * time.Millisecond, capacity: 12_000, jitter: 0.1},
		"without noise": {fixed: 600 * time.Millisecond, capacity: 12_000},
		"short blocks":  {fixed: 100 * time.Millisecond, capacity: 12_000, jitter: 0.1},
		"140 machines":  {fixed: 700 * time.Millisecond, capacity: 2_000_000, jitter: 0.05, shards: 70},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain.start()
			searching := newSearch(2_000, 10_000_000)
			rate := float64(search(t, chain, searching).TransfersPerSecond)
			chain.run(rate, time.Minute)
			executed, from := chain.executed, chain.finalized
			chain.run(rate, time.Hour)
			carried := (chain.executed - executed) / chain.finalized.Sub(from).Seconds()
			if carried < 0.96*rate || rate < 0.4*chain.capacity {
				t.Errorf("%.0f transfers per second are executed of %.0f, and the capacity is %.0f: %+v",
					carried, rate, chain.capacity, searching.Result())
			}
		})
	}
}

// A node that is asked in vain while pools are drained has not drained its own: the next
// rate would fail by what is still there.
func TestSearchDrainsASilentNode(t *testing.T) {
	t.Parallel()
	const pooled = 600_000
	status := func(pooled uint64) *chain.Status {
		return &chain.Status{FinalizedHeight: 1, Pool: chain.PoolStatus{Transactions: pooled}}
	}
	observer, searching := &control.Observer{}, newSearch(1_000, 1_000_000)
	for second, test := range []struct {
		slow *chain.Status
		want control.State
	}{
		{status(pooled), control.StateDraining},
		{nil, control.StateDraining},
		{status(pooled - 1), control.StateDraining},
		{status(0), control.StateTrying},
	} {
		sample := bench.Sample{Nodes: []bench.NodeSample{{Name: "a", Status: status(0)}, {Name: "b", Status: test.slow}}}
		seen, ok := observer.Observe(sample, time.Unix(1_790_000_000+int64(second), 0))
		if decision := searching.Step(seen); !ok || decision.State != test.want {
			t.Errorf("in second %d the decision is %+v, want %s", second, decision, test.want)
		}
	}
}

// After a rate that is far too high nothing is offered until it is executed: what
// waits is no reason for the next rate not to hold.
func TestSearchDrains(t *testing.T) {
	t.Parallel()
	chain, searching := limited(), newSearch(50_000, 1_000_000)
	isDraining := false
	for range 600 {
		decision := searching.Step(chain.observe())
		if decision.Steady {
			break
		}
		if decision.State == control.StateDraining {
			isDraining = true
			if decision.TransfersPerSecond != 0 {
				t.Fatalf("while pools are drained, %d transfers per second are offered", decision.TransfersPerSecond)
			}
		} else if isDraining {
			isDraining = false
			if chain.pool >= 1 {
				t.Fatalf("the next rate is tried while %.0f transfers wait", chain.pool)
			}
		}
		chain.run(float64(decision.TransfersPerSecond), interval)
	}
	// In little more than half of its step, so much waits that nobody needs the rest.
	if first := searching.Result().Steps[0]; first.Holds || first.EndedMs-first.BeganMs > 13_000 {
		t.Errorf("the first step is %+v, want one that ends early", first)
	}
}

// A chain that stands still at the end of a step has executed all until then, and
// the rate does not hold all the same.
func TestAStandstillDoesNotHold(t *testing.T) {
	t.Parallel()
	chain, searching := limited(), newSearch(1_000, 1_000_000)
	for second := range 21 {
		chain.stopped = second >= 16
		chain.run(float64(searching.Step(chain.observe()).TransfersPerSecond), interval)
	}
	steps := searching.Result().Steps
	if len(steps) != 1 || steps[0].Holds || !strings.HasPrefix(steps[0].Words, "what waits in the pools grows by") {
		t.Errorf("the steps are %+v, want one that does not hold for what waits", steps)
	}
}

// Under twice as much as was found, the search has its chain be measured.
func TestSearchOffersMore(t *testing.T) {
	t.Parallel()
	chain := limited()
	searching := control.NewSearch(&v1alpha1.SearchLoad{
		InitialTransfersPerSecond: 1_000, MaxTransfersPerSecond: 100_000, StepSeconds: 20, PrecisionPercent: 10, OfferedPercent: 200,
	})
	decision := search(t, chain, searching)
	if want := 2 * searching.Result().HeldPerSecond; decision.TransfersPerSecond != want || want == 0 {
		t.Errorf("%d transfers per second are offered, want %d", decision.TransfersPerSecond, want)
	}
}

// The search ends at the most that it may try, and without a rate where none holds.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	chain, bounded := limited(), newSearch(1_000, 3_000)
	if decision := search(t, chain, bounded); decision.TransfersPerSecond != 3_000 {
		t.Errorf("%d transfers per second are found, and 3,000 is the most", decision.TransfersPerSecond)
	}
	stopped, hopeless := limited(), newSearch(4, 1_000)
	stopped.stopped = true
	for range 3 {
		for range 25 {
			stopped.run(float64(hopeless.Step(stopped.observe()).TransfersPerSecond), interval)
		}
		stopped.pool = 0
	}
	if decision := search(t, stopped, hopeless); decision.State != control.StateNothing || decision.TransfersPerSecond != 0 {
		t.Errorf("of a chain that stands still the decision is %+v", decision)
	}
	if found := hopeless.Result(); found.HeldPerSecond != 0 || len(found.Steps) != 3 {
		t.Errorf("of a chain that stands still %+v is found, want nothing at 4, 2 and 1 transfers per second", found)
	}
}

// Generators that do not keep up are named, and taken for the limit that they are.
func TestSearchWithLateGenerators(t *testing.T) {
	t.Parallel()
	chain := &model{fixed: 600 * time.Millisecond, capacity: 12_000, signing: 3_000}
	chain.start()
	searching := newSearch(1_000, 1_000_000)
	search(t, chain, searching)
	found := searching.Result()
	if found.HeldPerSecond < 2_800 || found.HeldPerSecond > 3_100 {
		t.Errorf("%d transfers per second hold, and generators sign 3,000", found.HeldPerSecond)
	}
	named := false
	for _, step := range found.Steps {
		named = named || !step.Holds && step.TransfersPerSecond == 4_000 &&
			step.Words == "the generators are too late for 25.0% of it: they are the limit, and not the chain"
	}
	if !named {
		t.Errorf("no step says that generators are the limit: %+v", found.Steps)
	}
}
