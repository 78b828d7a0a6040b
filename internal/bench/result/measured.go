// SPDX-License-Identifier: Apache-2.0

package result

// MeasuredBlocks are the blocks that a run's figures are of: the time between
// the block before the first of them and the last covers the whole window, so
// that no standstill at either end is left out. It is empty when the blocks do
// not reach that far.
func (r *Run) MeasuredBlocks() []Block {
	first, last := r.edges()
	if first < 0 || last <= first {
		return nil
	}
	return r.Blocks[first+1 : last+1]
}

// MeasuredTimesMs are the block times of the measured blocks.
func (r *Run) MeasuredTimesMs() []int64 {
	first, last := r.edges()
	if first < 0 || last <= first {
		return nil
	}
	times := make([]int64, 0, last-first)
	for i := first + 1; i <= last; i++ {
		times = append(times, r.Blocks[i].TimestampMs-r.Blocks[i-1].TimestampMs)
	}
	return times
}

// edges are the last block that is not after the beginning of the window, and
// the first one that is not before its end; -1 when there is none.
func (r *Run) edges() (first, last int) {
	first, last = -1, -1
	for i := range r.Blocks {
		timestamp := r.Blocks[i].TimestampMs
		if timestamp <= r.Window.BeginMs {
			first = i
		}
		if timestamp >= r.Window.EndMs {
			return first, i
		}
	}
	return first, last
}

// MeasuredSamples are the samples of the window: those taken in it.
func (r *Run) MeasuredSamples() []Sample {
	var samples []Sample
	for i := range r.Samples {
		if at := r.Samples[i].TimeMs; at >= r.Window.BeginMs && at <= r.Window.EndMs {
			samples = append(samples, r.Samples[i])
		}
	}
	return samples
}
