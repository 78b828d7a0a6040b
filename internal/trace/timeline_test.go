// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

// Every span but block and chunk lies once in the lanes of its node, beside those
// of the same time, and the path goes from 0 to the block's time without a gap.
func TestTimeline(t *testing.T) {
	t.Parallel()
	const height = 3
	var spans []trace.Span
	for _, span := range usual().run(5) {
		if span.Height == height {
			spans = append(spans, span)
		}
	}
	timeline := trace.NewTimeline(height, spans, nil)
	if timeline.Height != height || timeline.Incomplete != "" || timeline.Leader == "" || len(timeline.Nodes) != nodes {
		t.Fatalf("block %d of %q, with %d nodes: %s", timeline.Height, timeline.Leader, len(timeline.Nodes), timeline.Incomplete)
	}
	checkPath(t, timeline)
	placed, did := checkNodes(t, timeline)
	whole := 0
	for _, span := range spans {
		if span.Name == "block" || span.Name == "chunk" {
			whole++
		}
	}
	if placed != len(spans)-whole {
		t.Errorf("%d spans are placed, want %d", placed, len(spans)-whole)
	}
	gaps := []trace.Phase{trace.Network, trace.Queue, trace.Turn}
	for _, segment := range timeline.Path {
		if !slices.Contains(gaps, segment.Phase) && !did[segment.Node+" "+segment.Span+" "+string(segment.Phase)] {
			t.Errorf("the path has %s of %s, which it does not have", segment.Span, segment.Node)
		}
	}
}

// checkNodes counts what is in the lanes, and says which node did what.
func checkNodes(t *testing.T, timeline *trace.Timeline) (placed int, did map[string]bool) {
	t.Helper()
	did = map[string]bool{}
	for _, node := range timeline.Nodes {
		for _, lane := range node.Lanes {
			placed += len(lane.Spans)
			checkLane(t, node.Node, lane)
			for _, span := range lane.Spans {
				did[node.Node+" "+span.Name+" "+string(span.Phase)] = true
			}
		}
	}
	return placed, did
}

func checkPath(t *testing.T, timeline *trace.Timeline) {
	t.Helper()
	at := 0.0
	for _, segment := range timeline.Path {
		if math.Abs(segment.BeginMs-at) > 1e-6 {
			t.Errorf("%s begins at %f ms, and the one before ended at %f", segment.Span, segment.BeginMs, at)
		}
		at = segment.EndMs
	}
	if at == 0 || math.Abs(at-timeline.Milliseconds) > 1e-6 {
		t.Errorf("the path ends at %f ms, the block at %f", at, timeline.Milliseconds)
	}
}

func checkLane(t *testing.T, node string, lane trace.TimelineLane) {
	t.Helper()
	ends := map[int]float64{}
	for _, span := range lane.Spans {
		if span.Row >= lane.Rows || span.Phase == "" || span.EndMs < span.BeginMs {
			t.Errorf("%s has %+v in a lane of %d rows", node, span, lane.Rows)
		}
		if end, ok := ends[span.Row]; ok && span.BeginMs < end-1e-6 {
			t.Errorf("%s has %s over another one of row %d", node, span.Name, span.Row)
		}
		ends[span.Row] = span.EndMs
	}
}

// What a wait was spent on adds up to it, and says whether that was work of a node or
// the way between two.
func TestWaitsAreDivided(t *testing.T) {
	t.Parallel()
	const height, slow = 3, 1
	m := usual()
	m.link = func(from, to int) time.Duration {
		if from == slow || to == slow {
			return 30 * time.Millisecond
		}
		return time.Millisecond
	}
	m.extra = longer(2, "execute")
	var spans []trace.Span
	for _, span := range m.run(5) {
		if span.Height == height {
			spans = append(spans, span)
		}
	}
	timeline := trace.NewTimeline(height, spans, nil)
	byKind := map[trace.Kind]float64{}
	for _, node := range timeline.Nodes {
		for _, lane := range node.Lanes {
			for _, span := range lane.Spans {
				checkParts(t, node.Node, span)
				for _, part := range span.Waited {
					byKind[part.Kind] += part.EndMs - part.BeginMs
				}
			}
		}
	}
	if byKind[trace.Work] < 50 || byKind[trace.Way] < 30 {
		t.Errorf("all waits together are %v", byKind)
	}
}

// checkParts holds what a span waited for against the span.
func checkParts(t *testing.T, node string, span trace.TimelineSpan) {
	t.Helper()
	if len(span.Waited) == 0 {
		return
	}
	at := span.BeginMs
	for _, part := range span.Waited {
		if math.Abs(part.BeginMs-at) > 1e-6 {
			t.Errorf("%s of %s has a part from %f ms on, and the one before ended at %f", span.Name, node, part.BeginMs, at)
		}
		at = part.EndMs
	}
	if math.Abs(at-span.EndMs) > 1e-6 {
		t.Errorf("%s of %s ends at %f ms, and its parts at %f", span.Name, node, span.EndMs, at)
	}
}

func TestTimelineWithoutAPath(t *testing.T) {
	t.Parallel()
	spans := []trace.Span{}
	for _, span := range usual().run(2) {
		if span.Height == 1 && span.Name == "take" {
			spans = append(spans, span)
		}
	}
	timeline := trace.NewTimeline(1, spans, nil)
	if timeline.Incomplete == "" || len(timeline.Path) != 0 || len(timeline.Nodes) == 0 || timeline.Nodes[0].Lanes[0].Spans[0].BeginMs != 0 {
		t.Errorf("got %+v", timeline)
	}
	if empty := trace.NewTimeline(7, nil, nil); empty.Incomplete == "" || len(empty.Nodes) != 0 {
		t.Errorf("of nothing there is %+v", empty)
	}
}
