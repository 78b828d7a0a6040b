// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"errors"
	"slices"
	"time"
)

// Segment is a part of a critical path: for so long, the block waited for this.
type Segment struct {
	// Phase is the kind of what was waited for.
	Phase Phase `json:"phase"`
	// Span is the name of the span; of a gap, of the one after it.
	Span string `json:"span"`
	// Shard is NoShard for what is of a whole block.
	Shard int `json:"shard"`
	// Node and Region are where it was waited for.
	Node   string `json:"node"`
	Region string `json:"region"`
	// FromNode and FromRegion are where it came from, if from another node.
	FromNode   string `json:"fromNode,omitempty"`
	FromRegion string `json:"fromRegion,omitempty"`
	// Begin and End are when.
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
}

// Duration is how long the segment is.
func (s Segment) Duration() time.Duration { return s.End.Sub(s.Begin) }

// Path is the critical path of a block, from the block before to this one.
type Path struct {
	// Height is that of the block.
	Height uint64 `json:"height"`
	// Leader is the node that proposed it.
	Leader string `json:"leader"`
	// Begin and End are when the block before and this one were final and stored.
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
	// Segments follow each other, without overlap.
	Segments []Segment `json:"segments"`
}

// Duration is how long the block took.
func (p *Path) Duration() time.Duration { return p.End.Sub(p.Begin) }

var (
	errNoBlock       = errors.New("no span says when the block began and ended")
	errNoRecordBlock = errors.New("no span says how its leader came to have it stored")
)

// Heights are the spans of each height; none of one that is not traced.
type Heights func(height uint64) []Span

// CriticalPath is what the block of one height waited for, by its spans and those of
// earlier heights that are traced. Of nil, none is.
func CriticalPath(spans []Span, of Heights) (*Path, error) {
	block, ok := lastOf(spans, func(span Span) bool { return span.Name == "block" })
	if !ok {
		return nil, errNoBlock
	}
	present, ok := lastOf(spans, func(span Span) bool { return span.Name == "record_block" && span.Node == block.Node })
	if !ok {
		return nil, errNoRecordBlock
	}
	return &Path{
		Height: block.Height, Leader: block.Node, Begin: block.Begin, End: block.End,
		Segments: pathTo(present, spans, of, block.Begin, block.End),
	}, nil
}

// pathTo is what a span waited for between two times, by the spans of its height and
// those of earlier ones.
func pathTo(present Span, spans []Span, of Heights, begin, end time.Time) []Segment {
	walk := walk{spans: spans, of: of, begin: begin, at: end}
	walk.back(present)
	slices.Reverse(walk.segments)
	return walk.segments
}

// walk goes back in time.
type walk struct {
	spans []Span
	// of are those of earlier heights; nil if there are none.
	of    Heights
	begin time.Time
	// at is up to where the time before is still to be given to something.
	at time.Time
	// segments are those found so far, the last one first.
	segments []Segment
}

// back gives the time from the begin to the end of a span, and whatever it waited
// for.
func (w *walk) back(present Span) {
	for w.at.After(w.begin) {
		cause, ended, ok := w.cause(present)
		if found, end, isThere := w.causeBefore(present); isThere && (!ok || end.After(ended)) {
			cause, ended, ok = found, end, true
			// What that waited for in turn is an earlier block's to say.
			w.spans, w.of = nil, nil
		}
		if !ok {
			w.give(segmentOf(present), present.Begin)
			w.give(gap(present, present), w.begin)
			return
		}
		segment := segmentOf(present)
		if cause.Node != present.Node && ended.After(present.Begin) {
			segment.FromNode, segment.FromRegion = cause.Node, cause.Region
		}
		w.give(segment, later(present.Begin, ended))
		w.give(gap(cause, present), ended)
		present = cause
	}
}

// give gives the time from then on, as far as it is nobody's yet, to a segment.
func (w *walk) give(segment Segment, from time.Time) {
	from = later(from, w.begin)
	if !from.Before(w.at) {
		return
	}
	segment.Begin, segment.End = from, w.at
	w.segments = append(w.segments, segment)
	w.at = from
}

// cause is what a span waited for last, and when that was over.
func (w *walk) cause(present Span) (found Span, ended time.Time, ok bool) {
	return w.last(kinds[present.Name].causes, w.spans, present)
}

// causeBefore is that of what it waited for of the block before, and of the block whose
// chunk it is of the execution of.
func (w *walk) causeBefore(present Span) (found Span, ended time.Time, ok bool) {
	kind := kinds[present.Name]
	if w.of == nil || len(kind.before)+len(kind.executed) == 0 {
		return Span{}, time.Time{}, false
	}
	before, executed := present.Height-1, present.Executed
	if executed == 0 {
		executed = before
	}
	found, ended, ok = w.last(kind.before, w.of(before), present)
	if stored, end, isThere := w.last(kind.executed, w.of(executed), present); isThere && (!ok || end.After(ended)) {
		return stored, end, true
	}
	return found, ended, ok
}

// last is the one of some spans that was over last, of those that the present one
// can have waited for.
func (w *walk) last(causes []cause, spans []Span, present Span) (found Span, ended time.Time, ok bool) {
	end := earlier(present.End, w.at)
	for _, cause := range causes {
		for _, span := range spans {
			if span.Name != cause.name || !cause.where.holds(span, present) {
				continue
			}
			over := span.End
			if cause.streams && span.Begin.Before(end) {
				over = earlier(over, end)
			}
			if over.After(end) || (ok && !over.After(ended)) {
				continue
			}
			found, ended, ok = span, over, true
		}
	}
	return found, ended, ok
}

func (w where) holds(span, present Span) bool {
	switch w {
	case onNode:
		return span.Node == present.Node
	case ofChunkOnNode:
		return span.Node == present.Node && span.Shard == present.Shard
	case ofChunk:
		return span.Shard == present.Shard
	case ofView:
		return span.View == present.View
	default:
		return false
	}
}

func segmentOf(span Span) Segment {
	return Segment{
		Phase: kinds[span.Name].phase, Span: span.Name, Shard: span.Shard, Node: span.Node, Region: span.Region,
	}
}

// gap is between the end of one span and the begin of the one after it.
func gap(before, after Span) Segment {
	segment := segmentOf(after)
	switch {
	case after.Name == "collect" || after.Name == "endorsed":
		segment.Phase = Turn
	case before.Node != after.Node:
		segment.Phase = Network
		segment.FromNode, segment.FromRegion = before.Node, before.Region
	default:
		segment.Phase = Queue
	}
	return segment
}

// lastOf is the span that ended last of those that are meant.
func lastOf(spans []Span, meant func(Span) bool) (last Span, ok bool) {
	for _, span := range spans {
		if meant(span) && (!ok || span.End.After(last.End)) {
			last, ok = span, true
		}
	}
	return last, ok
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
