// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate and how sure it is.
type Interval struct {
	Estimate, Low, High float64
}

// replicates is how often a bootstrap draws. An interval is made from their
// standard deviation, which 1,000 of them tell to about 2%.
const replicates = 1000

// minReplicates is how many of them must have a figure.
const minReplicates = 9 * replicates / 10

// Bootstrap estimates figures with intervals.
type Bootstrap struct {
	// Seed is what everything that is drawn follows from.
	Seed uint64
	// Confidence is how often an interval is to hold the true figure, between 0
	// and 1.
	Confidence float64
}

// Single estimates a figure of the runs of one variant.
func (b Bootstrap) Single(runs [][]Row, estimate Estimator) (Interval, bool) {
	return b.interval([]side{{runs: runs, draws: 0}}, func(figures []float64) (float64, bool) { return figures[0], true }, estimate)
}

// Ratio estimates what a figure of changed runs is of the same figure of base
// runs: 1 when they are the same. Runs that were made in pairs are drawn in
// pairs, because what disturbed one of a pair disturbed the other.
func (b Bootstrap) Ratio(base, changed [][]Row, paired bool, estimate Estimator) (Interval, bool) {
	// On the scale of logarithms twice as much is as far away as half as much.
	logarithm := func(figures []float64) (float64, bool) {
		if figures[0] <= 0 || figures[1] <= 0 {
			return 0, false
		}
		return math.Log(figures[1] / figures[0]), true
	}
	interval, ok := b.interval(twoSides(base, changed, paired), logarithm, estimate)
	return Interval{
		Estimate: math.Exp(interval.Estimate),
		Low:      math.Exp(interval.Low),
		High:     math.Exp(interval.High),
	}, ok
}

// Difference estimates how much more a figure of changed runs is than the same
// figure of base runs.
func (b Bootstrap) Difference(base, changed [][]Row, paired bool, estimate Estimator) (Interval, bool) {
	difference := func(figures []float64) (float64, bool) { return figures[1] - figures[0], true }
	return b.interval(twoSides(base, changed, paired), difference, estimate)
}

func twoSides(base, changed [][]Row, paired bool) []side {
	if paired && len(base) == len(changed) {
		return []side{{runs: base, draws: 0}, {runs: changed, draws: 0}}
	}
	return []side{{runs: base, draws: 0}, {runs: changed, draws: 1}}
}

// interval estimates what becomes of the figures of all sides. It reaches as far
// to both sides as Student's distribution says of as few runs as there are.
func (b Bootstrap) interval(sides []side, combine func([]float64) (float64, bool), estimate Estimator) (Interval, bool) {
	value := func(pools [][]Row) (float64, bool) {
		figures := make([]float64, len(pools))
		for i, pool := range pools {
			figure, ok := estimate(pool)
			if !ok {
				return 0, false
			}
			figures[i] = figure
		}
		return combine(figures)
	}
	center, ok := value(whole(sides))
	if !ok {
		return Interval{}, false
	}

	draw := newDraw(b.Seed, sides)
	values := make([]float64, 0, replicates)
	for range replicates {
		if value, ok := value(draw.next()); ok {
			values = append(values, value)
		}
	}
	if len(values) < minReplicates {
		return Interval{}, false
	}
	freedom, inflation := degrees(sides)
	if freedom < 1 {
		return Interval{}, false
	}
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}
	reach := student.Quantile(0.5+b.Confidence/2) * inflation * stat.StdDev(values, nil)
	return Interval{Estimate: center, Low: center - reach, High: center + reach}, true
}

// degrees are the degrees of freedom of the side that has the fewest, and by how
// much the bootstrap's deviation is too small because it takes the mean of the
// runs for the true one. A side of one run tells nothing of how runs differ; its
// freedom is that of the blocks of rows it consists of.
func degrees(sides []side) (freedom, inflation float64) {
	freedom, inflation = math.Inf(1), 1
	for _, side := range sides {
		count := float64(len(side.runs))
		if count == 1 {
			freedom = min(freedom, float64(len(side.runs[0]))/float64(blockLength(len(side.runs[0])))-1)
			continue
		}
		freedom = min(freedom, count-1)
		inflation = max(inflation, math.Sqrt(count/(count-1)))
	}
	return freedom, inflation
}
