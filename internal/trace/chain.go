// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"maps"
	"slices"
	"time"
)

// ID is that of a trace. It follows from the chain's genesis and the height, so that
// chains have different ones for the same height.
type ID [16]byte

// startsOver is how much later a height is proposed than a higher one, at least, if they
// are of different chains. Less can be a difference of their leaders' clocks.
const startsOver = time.Second

// NewestChain are the spans of the newest chain of a network, and how many traces are
// left out because they are of chains before it. Heights begin again when a network is
// deleted and made anew under the name that it had.
//
// Ids tell chains apart where both have a trace of a height. Of a sample, few heights
// are traced in both: there, a chain ends where heights go down in time.
func NewestChain(spans []Span) (newest []Span, older int) {
	began := newestBegan(spans)
	last := map[ID]time.Time{}
	for _, span := range spans {
		last[span.Trace] = later(last[span.Trace], span.Begin)
	}
	of := map[uint64]ID{}
	for _, span := range spans {
		if seen, ok := of[span.Height]; !ok || last[span.Trace].After(last[seen]) {
			of[span.Height] = span.Trace
		}
	}
	left := map[ID]bool{}
	for _, span := range spans {
		if of[span.Height] != span.Trace || last[span.Trace].Before(began) {
			left[span.Trace] = true
			continue
		}
		newest = append(newest, span)
	}
	return newest, len(left)
}

// newestBegan is when the newest chain made the first of its blocks of which there are
// spans; zero if nothing says that there is another chain. Only the first proposal of a
// height says so. It never comes before that of a lower height, whereas other spans of a
// height are late on a node that is behind.
func newestBegan(spans []Span) (began time.Time) {
	proposals := map[ID]Span{}
	for _, span := range spans {
		if first, ok := proposals[span.Trace]; span.Name == "propose" && (!ok || span.Begin.Before(first.Begin)) {
			proposals[span.Trace] = span
		}
	}
	inTime := byBegin(slices.Collect(maps.Values(proposals)))
	slices.Reverse(inTime)
	var lowest Span
	for i, proposal := range inTime {
		if i == 0 || proposal.Height < lowest.Height {
			lowest = proposal
		} else if lowest.Begin.Sub(proposal.Begin) > startsOver {
			return began
		}
		began = proposal.Begin
	}
	return time.Time{}
}
