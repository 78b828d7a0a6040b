// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

func noDelay(string, string) time.Duration { return 0 }

// What is slow of one node is long in its own figure, and in no other of those that
// say why.
func TestFiguresTellWhatIsSlow(t *testing.T) {
	t.Parallel()
	const slow = 2
	type figures struct{ executing, storing, travelling float64 }
	for name, test := range map[string]struct {
		plant func(*model)
		want  figures
	}{
		"nothing": {plant: func(*model) {}},
		"processor": {
			plant: func(m *model) { m.extra = longer(slow, "execute") },
			want:  figures{executing: 50},
		},
		"disk": {
			plant: func(m *model) { m.extra = longer(slow, "record", "record_header", "record_body", "record_block") },
			want:  figures{storing: 50},
		},
		"connections": {
			plant: func(m *model) {
				m.link = func(from, to int) time.Duration {
					if from == slow || to == slow {
						return 51 * time.Millisecond
					}
					return time.Millisecond
				}
			},
			want: figures{travelling: 50},
		},
	} {
		m := usual()
		test.plant(m)
		found, _ := trace.NodesOf(m.run(8), noDelay)
		if len(found) != nodes {
			t.Fatalf("there are figures of %d nodes", len(found))
		}
		usual := found[0]
		for _, node := range found[1:] {
			got := figures{
				node.Executing.Milliseconds - usual.Executing.Milliseconds,
				node.Storing.Milliseconds - usual.Storing.Milliseconds,
				node.Travelling.Milliseconds - usual.Travelling.Milliseconds,
			}
			want := figures{}
			if node.Node == nodeName(slow) {
				want = test.want
			}
			if !near(got.executing, want.executing) || !near(got.storing, want.storing) || !near(got.travelling, want.travelling) {
				t.Errorf("with slow %s, %s is slower than %s by %+v, want %+v", name, node.Node, usual.Node, got, want)
			}
		}
		if late := found[slow].EndorsingLate.Milliseconds - usual.EndorsingLate.Milliseconds; name != "nothing" && late < 10 {
			t.Errorf("with slow %s, it endorses late by %f ms", name, late)
		}
	}
}

// near is within what nodes differ by that do not do the same.
func near(got, want float64) bool { return math.Abs(got-want) < 2 }

// longer has some spans of one node take 50 ms longer.
func longer(node int, names ...string) func(trace.Span) time.Duration {
	return func(span trace.Span) time.Duration {
		if span.Node != nodeName(node) || !slices.Contains(names, span.Name) {
			return 0
		}
		return 50 * time.Millisecond
	}
}

// Ways are between regions, and what a link takes by its configuration is none of it.
func TestWaysBetweenRegions(t *testing.T) {
	t.Parallel()
	m := usual()
	m.link = func(from, to int) time.Duration {
		if regions[from] == "west" || regions[to] == "west" {
			return 40 * time.Millisecond
		}
		return time.Millisecond
	}
	_, ways := trace.NodesOf(m.run(8), func(from, to string) time.Duration {
		if from == "south" && to == "west" || from == "west" && to == "south" {
			return 30 * time.Millisecond
		}
		return 0
	})
	want := []struct {
		between [2]string
		ms      float64
	}{
		{[2]string{"north", "north"}, 1.1},
		{[2]string{"north", "south"}, 1.1},
		{[2]string{"north", "west"}, 40.1},
		{[2]string{"south", "west"}, 10.1},
	}
	if len(ways) != len(want) {
		t.Fatalf("got %+v", ways)
	}
	for i, way := range ways {
		if way.Between != want[i].between || !near(way.Mean.Milliseconds, want[i].ms) || way.Mean.Of == 0 {
			t.Errorf("got %+v, want %+v", way, want[i])
		}
	}
}

// Of what was not recorded there is no figure, which is another thing than 0.
func TestNoFigures(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_790_000_000_000)
	found, ways := trace.NodesOf([]trace.Span{{Name: "endorse", Height: 1, Node: "n0", Begin: at, End: at}}, noDelay)
	if len(ways) != 0 || len(found) != 1 || found[0] != (trace.NodeFigures{Node: "n0"}) {
		t.Errorf("got %+v and %+v", found, ways)
	}
}

func TestWhyAChunkIsMissing(t *testing.T) {
	t.Parallel()
	at := func(milliseconds int) time.Time { return time.UnixMilli(1_790_000_000_000 + int64(milliseconds)) }
	span := func(name, node string, shard, begin, end int) trace.Span {
		return trace.Span{Name: name, Height: 7, Shard: shard, Node: node, Begin: at(begin), End: at(end)}
	}
	collect, propose := span("collect", "n0", trace.NoShard, 0, 100), span("propose", "n0", trace.NoShard, 250, 251)
	for name, test := range map[string]struct {
		spans []trace.Span
		want  trace.Cause
	}{
		"nothing is traced":         {nil, trace.Untold},
		"no leader's spans":         {[]trace.Span{span("distribute", "n1", 1, 0, 50)}, trace.Untold},
		"another one sent":          {[]trace.Span{collect, propose, span("distribute", "n2", 1, 0, 50)}, trace.NotMade},
		"it sent another one":       {[]trace.Span{collect, propose, span("distribute", "n1", 0, 0, 50)}, trace.NotMade},
		"sent after the wait":       {[]trace.Span{collect, propose, span("distribute", "n1", 1, 99, 101)}, trace.SentLate},
		"sent in time":              {[]trace.Span{collect, propose, span("distribute", "n1", 1, 99, 100)}, trace.EndorsedLate},
		"no span says of any wait":  {[]trace.Span{propose, span("distribute", "n1", 1, 200, 249)}, trace.NotAwaited},
		"sent after it was made up": {[]trace.Span{propose, span("distribute", "n1", 1, 200, 260)}, trace.SentLate},
	} {
		if got := trace.WhyMissed(test.spans, 1, "n1"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
