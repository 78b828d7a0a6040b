// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"slices"
	"time"
)

// lane is where spans of a node lie that belong together.
type lane struct {
	node  string
	shard int
	// whole is of the spans that paths are of, and not on.
	whole bool
}

func laneOf(span Span) lane {
	return lane{span.Node, span.Shard, span.Name == "block" || span.Name == "chunk"}
}

// lanes say up to when each row of each lane is taken.
type lanes map[lane][]time.Time

// row is the first one of a span's lane that is free: spans of one do not overlap.
// Spans have to come by when they began.
func (l lanes) row(span Span) int {
	of := laneOf(span)
	for row, end := range l[of] {
		if !end.After(span.Begin) {
			l[of][row] = span.End
			return row
		}
	}
	l[of] = append(l[of], span.End)
	return len(l[of]) - 1
}

// byBegin are spans by when they began, the longest first.
func byBegin(spans []Span) []Span {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(a.Begin.Compare(b.Begin), b.End.Compare(a.End), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name))
	})
	return spans
}
