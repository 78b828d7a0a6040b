// SPDX-License-Identifier: Apache-2.0

package traces

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

const (
	// mostHeights is how many blocks can be looked at: those of more than a minute, if
	// the chain is no faster than most.
	mostHeights = 300

	// mostSpans is how many spans these have in all: about 30 MB.
	mostSpans = 200_000
)

// Recent are the spans of the newest traced heights.
type Recent struct {
	// SampleBasisPoints is how many of 10,000 heights are traced.
	SampleBasisPoints int32

	mutex sync.Mutex
	of    map[uint64][]trace.Span
	spans int
	// below is the height below which there is nothing anymore: what nodes send of
	// lower ones is late.
	below uint64
}

// NewRecent has no spans yet.
func NewRecent(sampleBasisPoints int32) *Recent {
	return &Recent{SampleBasisPoints: sampleBasisPoints, of: map[uint64][]trace.Span{}}
}

// Add takes spans, and lets go of the lowest heights when there are too many.
func (r *Recent) Add(spans []trace.Span) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, span := range spans {
		if span.Height < r.below {
			continue
		}
		r.of[span.Height] = append(r.of[span.Height], span)
		r.spans++
		for len(r.of) > mostHeights || r.spans > mostSpans {
			r.dropLowest()
		}
	}
}

func (r *Recent) dropLowest() {
	lowest := slices.Min(slices.Collect(maps.Keys(r.of)))
	r.spans -= len(r.of[lowest])
	delete(r.of, lowest)
	r.below = lowest + 1
}

// Since are the spans that ended since a time, of the heights that are kept.
func (r *Recent) Since(at time.Time) []trace.Span {
	if r == nil {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var since []trace.Span
	for _, spans := range r.of {
		for _, span := range spans {
			if !span.End.Before(at) {
				since = append(since, span)
			}
		}
	}
	return since
}

// Of are the spans of a height; none if it is not traced, or not anymore.
func (r *Recent) Of(height uint64) []trace.Span {
	if r == nil {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.of[height])
}

// heights are the traced heights, the newest first.
func (r *Recent) heights() []uint64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	heights := slices.Sorted(maps.Keys(r.of))
	slices.Reverse(heights)
	return heights
}
