// SPDX-License-Identifier: Apache-2.0

package result

// MeasuredBlocks are the blocks that a run's figures are of: the time between
// the block before the first of them and the last covers the whole window, so
// that no standstill at either end is left out. It is empty when the blocks do
// not reach that far.
func (r *Run) MeasuredBlocks() []Block {
	first, last := r.edges(r.Window)
	if first < 0 || last <= first {
		return nil
	}
	return r.Blocks[first+1 : last+1]
}

// ExecutedPerSecond is TPS over another time than the measurement, between blocks
// that are picked like those; false when they do not reach that far.
func (r *Run) ExecutedPerSecond(window Window) (float64, bool) {
	first, last := r.edges(window)
	if first < 0 || last <= first {
		return 0, false
	}
	elapsed := r.Blocks[last].TimestampMs - r.Blocks[first].TimestampMs
	if elapsed <= 0 {
		return 0, false
	}
	var executed uint64
	for i := first + 1; i <= last; i++ {
		executed += r.Blocks[i].Executed
	}
	return 1000 * float64(executed) / float64(elapsed), true
}

// MeasuredTimesMs are the block times of the measured blocks.
func (r *Run) MeasuredTimesMs() []int64 {
	first, last := r.edges(r.Window)
	if first < 0 || last <= first {
		return nil
	}
	times := make([]int64, 0, last-first)
	for i := first + 1; i <= last; i++ {
		times = append(times, r.Blocks[i].TimestampMs-r.Blocks[i-1].TimestampMs)
	}
	return times
}

// MeasuredSpansMs are the times that the measured blocks count over: their block times,
// but for the first one of a fixed count, which counts from the beginning of the load.
func (r *Run) MeasuredSpansMs() []int64 {
	spans := r.MeasuredTimesMs()
	if r.FixedCount != nil && len(spans) > 0 {
		spans[0] = r.MeasuredBlocks()[0].TimestampMs - r.Window.BeginMs
	}
	return spans
}

// edges are the last block that is not after the beginning of a window, and
// the first one that is not before its end; -1 when there is none.
func (r *Run) edges(window Window) (first, last int) {
	first, last = -1, -1
	for i := range r.Blocks {
		timestamp := r.Blocks[i].TimestampMs
		if timestamp <= window.BeginMs {
			first = i
		}
		if timestamp >= window.EndMs {
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
