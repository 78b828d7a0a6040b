// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"math"
	"math/rand/v2"
)

// side is the runs of one variant.
type side struct {
	runs [][]Row
	// draws is the number of the list of drawn runs that the side takes its own
	// from. Sides with the same number are drawn together.
	draws int
}

// whole are the rows of all runs of each side.
func whole(sides []side) [][]Row {
	pools := make([][]Row, len(sides))
	for i, side := range sides {
		for _, run := range side.runs {
			pools[i] = append(pools[i], run...)
		}
	}
	return pools
}

// draw draws rows again and again, as many as there are.
type draw struct {
	random *rand.Rand
	sides  []side
	pools  [][]Row
}

func newDraw(seed uint64, sides []side) *draw {
	return &draw{random: rand.New(rand.NewPCG(seed, 0)), sides: sides, pools: make([][]Row, len(sides))}
}

// next draws runs, or blocks of consecutive rows where there is one run. What it
// returns is valid until the next call.
func (d *draw) next() [][]Row {
	drawn := map[int][]int{}
	for i, side := range d.sides {
		d.pools[i] = d.pools[i][:0]
		if len(side.runs) == 1 {
			d.pools[i] = d.blocks(d.pools[i], side.runs[0])
			continue
		}
		runs, ok := drawn[side.draws]
		if !ok {
			runs = d.runs(len(side.runs))
			drawn[side.draws] = runs
		}
		for _, run := range runs {
			d.pools[i] = append(d.pools[i], side.runs[run]...)
		}
	}
	return d.pools
}

func (d *draw) runs(count int) []int {
	runs := make([]int, count)
	for i := range runs {
		runs[i] = d.random.IntN(count)
	}
	return runs
}

// blocks appends as many rows as a run has, in blocks that begin anywhere. The
// first row follows the last, so that every row is drawn as often as any other.
func (d *draw) blocks(pool, run []Row) []Row {
	if len(run) == 0 {
		return pool
	}
	length := blockLength(len(run))
	for left := len(run); left > 0; left -= length {
		begin := d.random.IntN(len(run))
		for i := range min(length, left) {
			pool = append(pool, run[(begin+i)%len(run)])
		}
	}
	return pool
}

// blockLength is the length of the blocks for a number of rows: the cube root,
// which grows as the best length for a variance does.
func blockLength(rows int) int {
	return max(1, int(math.Ceil(math.Cbrt(float64(rows)))))
}
