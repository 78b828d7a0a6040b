// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Timeline is what the nodes did for one block, side by side. Its times are
// milliseconds from when the block before was final and stored on the node of
// the leader, and below 0 for what began before that.
type Timeline struct {
	Height uint64 `json:"height"`
	// Incomplete says why there is no path; then times are from the first span.
	Incomplete string `json:"incomplete,omitempty"`
	// Leader is the node that proposed the block, if there is a path.
	Leader string `json:"leader,omitempty"`
	// Milliseconds is how long the block took, if there is a path.
	Milliseconds float64 `json:"milliseconds"`
	// Path is what the block waited for.
	Path []TimelineSegment `json:"path"`
	// Nodes are by region and name.
	Nodes []TimelineNode `json:"nodes"`
}

// TimelineSegment is a part of the path, or of what a span waited for.
type TimelineSegment struct {
	Kind  Kind   `json:"kind"`
	Phase Phase  `json:"phase"`
	Span  string `json:"span"`
	// Shard is nil for what is of a whole block.
	Shard      *int    `json:"shard,omitempty"`
	Node       string  `json:"node"`
	Region     string  `json:"region"`
	FromNode   string  `json:"fromNode,omitempty"`
	FromRegion string  `json:"fromRegion,omitempty"`
	BeginMs    float64 `json:"beginMs"`
	EndMs      float64 `json:"endMs"`
}

// TimelineNode is a node and what it did.
type TimelineNode struct {
	Node   string         `json:"node"`
	Region string         `json:"region"`
	Lanes  []TimelineLane `json:"lanes"`
}

// TimelineLane is what a node did for one shard, or for whole blocks.
type TimelineLane struct {
	// Shard is nil for whole blocks.
	Shard *int `json:"shard,omitempty"`
	// Rows are as many as there are spans at a time.
	Rows  int            `json:"rows"`
	Spans []TimelineSpan `json:"spans"`
}

// TimelineSpan is a span in a row of its lane.
type TimelineSpan struct {
	Name    string  `json:"name"`
	Phase   Phase   `json:"phase"`
	Row     int     `json:"row"`
	BeginMs float64 `json:"beginMs"`
	EndMs   float64 `json:"endMs"`
	// Waited is what a span that waits was spent on, from its begin to its end.
	Waited []TimelineSegment `json:"waited,omitempty"`
}

// NewTimeline lays out the spans of one height, with what its block waited for, also
// of earlier heights that are traced.
func NewTimeline(height uint64, spans []Span, of Heights) *Timeline {
	spans = byBegin(spans)
	timeline := &Timeline{Height: height, Path: []TimelineSegment{}, Nodes: []TimelineNode{}}
	if len(spans) == 0 {
		timeline.Incomplete = errNoBlock.Error()
		return timeline
	}
	origin := spans[0].Begin
	path, err := CriticalPath(spans, of)
	if err != nil {
		timeline.Incomplete = err.Error()
		path = &Path{}
	} else {
		origin = path.Begin
		timeline.Leader, timeline.Milliseconds = path.Leader, milliseconds(path.Duration())
	}
	since := func(at time.Time) float64 { return milliseconds(at.Sub(origin)) }
	timeline.Path = append(timeline.Path, timelineSegments(path.Segments, since)...)
	timeline.Nodes = layOut(spans, since)
	return timeline
}

func timelineSegments(segments []Segment, since func(time.Time) float64) []TimelineSegment {
	laidOut := make([]TimelineSegment, 0, len(segments))
	for _, segment := range segments {
		laidOut = append(laidOut, TimelineSegment{
			Kind: segment.Kind(), Phase: segment.Phase, Span: segment.Span, Shard: shardOrNil(segment.Shard),
			Node: segment.Node, Region: segment.Region, FromNode: segment.FromNode, FromRegion: segment.FromRegion,
			BeginMs: since(segment.Begin), EndMs: since(segment.End),
		})
	}
	return laidOut
}

// layOut gives spans, which are by when they began, their places.
func layOut(spans []Span, since func(time.Time) float64) []TimelineNode {
	taken := lanes{}
	nodes := map[string]TimelineNode{}
	placed := map[lane]*TimelineLane{}
	for _, span := range spans {
		of := laneOf(span)
		if of.whole {
			continue
		}
		if _, ok := nodes[span.Node]; !ok {
			nodes[span.Node] = TimelineNode{Node: span.Node, Region: span.Region}
		}
		if placed[of] == nil {
			placed[of] = &TimelineLane{Shard: shardOrNil(span.Shard)}
		}
		placed[of].Spans = append(placed[of].Spans, TimelineSpan{
			Name: span.Name, Phase: kinds[span.Name].phase, Row: taken.row(span),
			BeginMs: since(span.Begin), EndMs: since(span.End), Waited: timelineSegments(waitedFor(span, spans), since),
		})
		placed[of].Rows = len(taken[of])
	}
	order := func(a, b lane) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.shard, b.shard)) }
	for _, of := range slices.SortedFunc(maps.Keys(placed), order) {
		node := nodes[of.node]
		node.Lanes = append(node.Lanes, *placed[of])
		nodes[of.node] = node
	}
	return slices.SortedFunc(maps.Values(nodes), func(a, b TimelineNode) int {
		return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(a.Node, b.Node))
	})
}

func shardOrNil(shard int) *int {
	if shard == NoShard {
		return nil
	}
	return &shard
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}
