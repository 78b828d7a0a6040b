// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// Series is one line of a panel.
type Series struct {
	Label string `json:"label"`
	// Color is the number of what the line is of: lines of one kind share it.
	Color int `json:"color"`
	// Dash is of lines that are what was wanted and not what was measured.
	Dash bool      `json:"dash,omitempty"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
}

// add appends a point.
func (s *Series) add(x, y float64) {
	s.X, s.Y = append(s.X, rounded(x)), append(s.Y, rounded(y))
}

// rounded keeps as many digits as a chart can show.
func rounded(number float64) float64 {
	return math.Round(number*1000) / 1000
}

// secondsOf is a time as seconds since the load of a run began.
func secondsOf(run *result.Run, timeMs int64) float64 {
	return float64(timeMs-run.LoadBeganMs) / 1000
}

// byBlock makes a line with a point for each block but the first, whose block
// time nobody knows.
func byBlock(value func(before, block *result.Block) float64) func(*result.Run, *Series) {
	return func(run *result.Run, series *Series) {
		for i := 1; i < len(run.Blocks); i++ {
			before, block := &run.Blocks[i-1], &run.Blocks[i]
			series.add(secondsOf(run, block.TimestampMs), value(before, block))
		}
	}
}

// bySecond makes a line with a rate for each second of a run: what blocks count,
// in proportion to how much of their block time is in it. There is none if one
// count is not known.
func bySecond(count func(*result.Block) *uint64) func(*result.Run, *Series) {
	return func(run *result.Run, series *Series) {
		if len(run.Blocks) < 2 {
			return
		}
		first, last := run.Blocks[0].TimestampMs, run.Blocks[len(run.Blocks)-1].TimestampMs
		bins := make([]float64, (last-first)/1000)
		for i := 1; i < len(run.Blocks); i++ {
			counted := count(&run.Blocks[i])
			if counted == nil {
				return
			}
			spreadOver(bins, run.Blocks[i-1].TimestampMs-first, run.Blocks[i].TimestampMs-first, float64(*counted))
		}
		for i, rate := range bins {
			series.add(secondsOf(run, first+int64(i)*1000+500), rate)
		}
	}
}

// spreadOver adds an amount to the seconds that a time is in, in proportion.
func spreadOver(bins []float64, beginMs, endMs int64, amount float64) {
	if endMs <= beginMs {
		return
	}
	for second := beginMs / 1000; second < int64(len(bins)) && second*1000 < endMs; second++ {
		within := min(endMs, (second+1)*1000) - max(beginMs, second*1000)
		bins[second] += amount * float64(within) / float64(endMs-beginMs)
	}
}

// byStepOfSearch makes a line of the highest rate that is known to hold, or of the
// lowest one that is known not to, from the step on that found it to the end.
func byStepOfSearch(holds bool) func(*result.Run, *Series) {
	return func(run *result.Run, series *Series) {
		if run.Search == nil || len(run.Samples) == 0 {
			return
		}
		var bound int64
		for i := range run.Search.Steps {
			step := &run.Search.Steps[i]
			if step.Holds != holds {
				continue
			}
			better := step.TransfersPerSecond > bound
			if !holds {
				better = step.TransfersPerSecond < bound
			}
			if bound == 0 || better {
				bound = step.TransfersPerSecond
			}
			series.add(secondsOf(run, step.EndedMs), float64(bound))
		}
		if bound > 0 {
			series.add(secondsOf(run, run.Samples[len(run.Samples)-1].TimeMs), float64(bound))
		}
	}
}

// bySample makes a line with a point for each sample whose value is known.
func bySample(value func(*result.Sample) (float64, bool)) func(*result.Run, *Series) {
	return func(run *result.Run, series *Series) {
		for i := range run.Samples {
			if known, ok := value(&run.Samples[i]); ok {
				series.add(secondsOf(run, run.Samples[i].TimeMs), known)
			}
		}
	}
}

// byStep makes a line with a point for each two samples that follow each other.
func byStep(value func(before, sample *result.Sample, seconds float64) (float64, bool)) func(*result.Run, *Series) {
	return func(run *result.Run, series *Series) {
		for i := 1; i < len(run.Samples); i++ {
			before, sample := &run.Samples[i-1], &run.Samples[i]
			seconds := float64(sample.TimeMs-before.TimeMs) / 1000
			if seconds <= 0 {
				continue
			}
			if known, ok := value(before, sample, seconds); ok {
				series.add(secondsOf(run, sample.TimeMs), known)
			}
		}
	}
}

// rise is by how much a counter rose; false when that is not known.
func rise[Number uint64 | float64](before, after *Number) (float64, bool) {
	if before == nil || after == nil || *after < *before {
		return 0, false
	}
	return float64(*after - *before), true
}
