// SPDX-License-Identifier: Apache-2.0

package statistics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shardyard/shardyard/internal/bench/statistics"
)

var bootstrap = statistics.Bootstrap{Seed: 1, Confidence: 0.95}

// noise makes runs whose cost is around a mean: each run is off by its own share,
// and so is each row.
type noise struct {
	random           *rand.Rand
	betweenRuns, row float64
}

func (n *noise) run(mean float64) []statistics.Row {
	mean *= 1 + n.betweenRuns*n.random.NormFloat64()
	made := make([]statistics.Row, 16)
	for i := range made {
		made[i] = statistics.Row{Quantity: mean * (1 + n.row*n.random.NormFloat64()), By: 1}
	}
	return made
}

// An interval holds the true ratio about as often as it says: also of few runs,
// which differ from each other by more than their rows tell.
func TestIntervalsHoldWhatThereIs(t *testing.T) {
	t.Parallel()
	noise := noise{random: rand.New(rand.NewPCG(7, 7)), betweenRuns: 0.03, row: 0.05}
	const trials, pairs, ratio = 120, 5, 1.1
	held := 0
	for range trials {
		var base, changed [][]statistics.Row
		for range pairs {
			base, changed = append(base, noise.run(100)), append(changed, noise.run(100*ratio))
		}
		interval, ok := bootstrap.Ratio(base, changed, true, statistics.Rate)
		if !ok {
			t.Fatal("there is no interval")
		}
		if interval.Low <= ratio && ratio <= interval.High {
			held++
		}
	}
	if percent := 100 * float64(held) / trials; percent < 90 || percent > 99 {
		t.Errorf("%.1f%% of the intervals hold the ratio, want about 95%%", percent)
	}
}

// What disturbs both runs of a pair alike does not hide what differs.
func TestPairsCancelWhatTheyShare(t *testing.T) {
	t.Parallel()
	noise := noise{random: rand.New(rand.NewPCG(3, 3)), row: 0.01}
	var base, changed [][]statistics.Row
	for _, disturbance := range []float64{1, 1.5, 0.7, 1.2, 2} {
		base, changed = append(base, noise.run(100*disturbance)), append(changed, noise.run(103*disturbance))
	}
	paired, ok := bootstrap.Ratio(base, changed, true, statistics.Rate)
	if !ok || paired.Low < 1.015 || paired.High > 1.045 {
		t.Errorf("the ratio in pairs is %+v (%t), want about 1.03", paired, ok)
	}
	apart, ok := bootstrap.Ratio(base, changed, false, statistics.Rate)
	if !ok || apart.Low > 0.9 || apart.High < 1.1 {
		t.Errorf("the ratio of runs that share nothing is %+v (%t), want it to be uncertain", apart, ok)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	noise := noise{random: rand.New(rand.NewPCG(5, 5)), row: 0.1}
	base := [][]statistics.Row{noise.run(0), noise.run(0), noise.run(0)}
	changed := [][]statistics.Row{noise.run(4), noise.run(4), noise.run(4)}
	interval, ok := bootstrap.Difference(base, changed, true, statistics.Rate)
	if !ok || interval.Low < 3.5 || interval.High > 4.5 || interval.Low > interval.Estimate || interval.Estimate > interval.High {
		t.Errorf("the difference is %+v (%t), want about 4", interval, ok)
	}
	if ratio, ok := bootstrap.Ratio(base, changed, true, statistics.Rate); ok {
		t.Errorf("the ratio to nothing is %+v, want none", ratio)
	}
}

// Rows that resemble their neighbours tell less than as many that do not.
func TestBlocksKeepWhatNeighboursShare(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	waves := make([]statistics.Row, 1000)
	level := 0.0
	for i := range waves {
		level = 0.9*level + random.NormFloat64()
		waves[i] = statistics.Row{Quantity: 100 + level, By: 1}
	}
	shuffled := append([]statistics.Row(nil), waves...)
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })

	width := func(run []statistics.Row) float64 {
		interval, ok := bootstrap.Single([][]statistics.Row{run}, statistics.Rate)
		if !ok {
			t.Fatal("there is no interval")
		}
		return interval.High - interval.Low
	}
	if of, without := width(waves), width(shuffled); of < 2*without {
		t.Errorf("the interval is %f wide, and %f of the same rows in no order: want it to be at least twice as wide", of, without)
	}
}

func TestIntervalsFollowFromTheSeed(t *testing.T) {
	t.Parallel()
	noise := noise{random: rand.New(rand.NewPCG(1, 2)), row: 0.1}
	runs := [][]statistics.Row{noise.run(10), noise.run(10), noise.run(10)}
	first, _ := bootstrap.Single(runs, statistics.Rate)
	again, _ := bootstrap.Single(runs, statistics.Rate)
	if first != again {
		t.Errorf("the interval is %+v and then %+v", first, again)
	}
	other, _ := statistics.Bootstrap{Seed: 2, Confidence: 0.95}.Single(runs, statistics.Rate)
	if other == first {
		t.Errorf("the interval is %+v with every seed", first)
	}
	if change := math.Abs(other.High/first.High - 1); change > 0.02 {
		t.Errorf("another seed changes the interval from %+v to %+v", first, other)
	}
}

func TestWithoutIntervals(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string][][]statistics.Row{
		"no runs":        nil,
		"runs of no row": {nil, nil},
		"one row":        {rows(1)},
	} {
		if interval, ok := bootstrap.Single(runs, statistics.Rate); ok {
			t.Errorf("%s: is %+v, want no interval", name, interval)
		}
	}
}
