// SPDX-License-Identifier: Apache-2.0

package standing

import (
	"slices"

	"github.com/shardyard/shardyard/internal/trace"
)

const (
	// outlyingTimes is how many times the median of the others a figure has to exceed to
	// stand out.
	outlyingTimes = 2

	// fewestOf is of how many times a mean has to be to stand out, or to be compared
	// with.
	fewestOf = 5
)

// figure is a mean and, if there are others to compare it with, their median.
type figure struct {
	trace.Mean

	// Peers is the median of the others'; nil if there are none.
	Peers *float64 `json:"peers"`
	// Outlying says that it stands out.
	Outlying bool `json:"outlying"`
}

// compare holds each mean against the others. A mean that is nil stays so.
func compare(means []*trace.Mean, floor float64) []*figure {
	figures := make([]*figure, len(means))
	for i, mean := range means {
		if mean == nil {
			continue
		}
		figures[i] = &figure{Mean: *mean}
		var others []float64
		for j, other := range means {
			if j != i && other != nil && other.Of >= fewestOf {
				others = append(others, other.Milliseconds)
			}
		}
		if len(others) > 0 {
			median := medianOf(others)
			figures[i].Peers = &median
			figures[i].Outlying = mean.Of >= fewestOf && outlies(mean.Milliseconds, median, floor)
		}
	}
	return figures
}

// standsOut says whether there is a figure, and it stands out.
func (f *figure) standsOut() bool {
	return f != nil && f.Outlying
}

// timesPeers is how many times the others' median one with peers is. Whoever is
// short of processor stores late as well, and whoever stores late executes more at a
// time: what is more out of proportion is what points to why.
func (f *figure) timesPeers() float64 {
	return f.Milliseconds / *f.Peers
}

// longer is by how many milliseconds one with peers exceeds their median.
func (f *figure) longer() float64 {
	return f.Milliseconds - *f.Peers
}

// isLonger says whether one exceeds the others' median by so much that it is no chance,
// though it may not stand out.
func (f *figure) isLonger() bool {
	const times = 1.5
	return f != nil && f.Peers != nil && f.timesPeers() > times
}

func outlies(value, median, floor float64) bool {
	return value > outlyingTimes*median && value > median+floor
}

// medianOf is the lower one of the two in the middle, if there are two.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}
