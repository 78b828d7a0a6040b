// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

const blocks = 40

func shard(number int) *int { return &number }

// slower has the spans that are meant take longer.
func slower(by time.Duration, meant func(span trace.Span) bool) func(*model) {
	return func(m *model) {
		m.extra = func(span trace.Span) time.Duration {
			if meant(span) {
				return by
			}
			return 0
		}
	}
}

// farAway has messages to and from a region take so long.
func farAway(region string, link time.Duration) func(*model) {
	return func(m *model) {
		m.link = func(from, to int) time.Duration {
			if regions[from] != regions[to] && (regions[from] == region || regions[to] == region) {
				return link
			}
			return time.Millisecond
		}
	}
}

// late says why blocks are late, and what the report has to name first.
type late struct {
	change func(*model)
	phase  trace.Phase
	shard  *int
	node   string
	region string
	place  trace.Row
}

var lateBlocks = map[string]late{
	"nothing but the least block time": {
		change: func(m *model) { m.minBlockTime = 200 * time.Millisecond },
		phase:  trace.Pacing,
		place:  trace.Row{Phase: trace.Pacing},
	},
	"a shard's witness": {
		change: slower(200*time.Millisecond, func(span trace.Span) bool { return span.Name == "witness_make" && span.Shard == 1 }),
		phase:  trace.Witness, shard: shard(1),
		place: trace.Row{Phase: trace.Witness, Span: "witness_make", Shard: shard(1)},
	},
	"a shard's witness on its way": {
		change: slower(200*time.Millisecond, func(span trace.Span) bool { return span.Name == "witness_receive" && span.Shard == 0 }),
		phase:  trace.Witness, shard: shard(0),
		place: trace.Row{Phase: trace.Witness, Span: "witness_receive", Shard: shard(0)},
	},
	"a slow disk": {
		change: slower(50*time.Millisecond, func(span trace.Span) bool {
			return strings.HasPrefix(span.Name, "record") && span.Node == "n2"
		}),
		phase: trace.Persistence, node: "n2",
		place: trace.Row{Phase: trace.Persistence, Node: "n2", Region: "north"},
	},
	"a disk that stores blocks slowly": {
		change: slower(50*time.Millisecond, func(span trace.Span) bool { return span.Name == "record_block" && span.Node == "n2" }),
		phase:  trace.Persistence, node: "n2",
		place: trace.Row{Phase: trace.Persistence, Span: "record_block", Node: "n2", Region: "north"},
	},
	"a region far away": {
		change: farAway("west", 80*time.Millisecond),
		phase:  trace.Network, node: "n3", region: "west",
		place: trace.Row{Phase: trace.Network},
	},
	"a slow executor": {
		change: slower(70*time.Millisecond, func(span trace.Span) bool { return span.Name == "execute" && span.Node == "n1" }),
		phase:  trace.Execution, shard: shard(0), node: "n1",
		place: trace.Row{Phase: trace.Execution, Span: "execute", Shard: shard(0), Node: "n1", Region: "south"},
	},
}

// What makes blocks late is what the report names first.
func TestReportNamesWhatBlocksWaitedFor(t *testing.T) {
	t.Parallel()
	for name, test := range lateBlocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := usual()
			test.change(model)
			report := trace.NewReport(model.run(blocks))
			if report.Blocks != blocks || len(report.Incomplete) > 0 {
				t.Fatalf("%d blocks, incomplete: %v", report.Blocks, report.Incomplete)
			}
			check := func(table string, rows []trace.Row, want trace.Row) {
				if !isOf(rows[0], want) {
					t.Errorf("of %s the first is %+v, want %+v", table, rows[0], want)
				}
			}
			check("phases", report.Phases, trace.Row{Phase: test.phase})
			check("shards", report.Shards, trace.Row{Shard: test.shard})
			check("nodes", report.Nodes, trace.Row{Node: test.node})
			check("regions", report.Regions, trace.Row{Region: test.region})
			check("places", report.Places, test.place)
		})
	}
}

// isOf says whether a row is of what another one names.
func isOf(row, wanted trace.Row) bool {
	return row.Phase == wanted.Phase && (wanted.Span == "" || row.Span == wanted.Span) &&
		(wanted.Shard == nil || row.Shard != nil && *row.Shard == *wanted.Shard) &&
		(wanted.Node == "" || row.Node == wanted.Node) && (wanted.Region == "" || row.Region == wanted.Region)
}

// What an execution waits for is the storing of the block before, on a node that
// is slow at it, and that it could not begin where that block is not traced.
func TestExecutionWaitsForTheBlockBefore(t *testing.T) {
	t.Parallel()
	model := usual()
	slower(50*time.Millisecond, func(span trace.Span) bool { return span.Name == "record_block" && span.Node == "n2" })(model)
	spans := model.run(blocks)
	waited := func(report *trace.Report, phase trace.Phase) (milliseconds float64) {
		for _, row := range report.Places {
			if row.Node == "n2" && row.Phase == phase {
				milliseconds += row.Milliseconds.Max
			}
		}
		return milliseconds
	}
	if report := trace.NewReport(spans); waited(report, trace.Queue) > 1 || waited(report, trace.Persistence) < 50 {
		t.Errorf("every height is traced, and blocks wait for %+v", report.Places)
	}
	sampled := slices.DeleteFunc(spans, func(span trace.Span) bool { return span.Height%3 != 0 })
	if report := trace.NewReport(sampled); waited(report, trace.Queue) < 45 {
		t.Errorf("every third height is traced, and blocks wait for %+v", report.Places)
	}
}

// An induced delay is in the report to the millisecond.
func TestReportSaysHowLong(t *testing.T) {
	t.Parallel()
	model := usual()
	model.extra = func(span trace.Span) time.Duration {
		if span.Name == "witness_make" && span.Shard == 1 {
			return 200 * time.Millisecond
		}
		return 0
	}
	report := trace.NewReport(model.run(blocks))
	if report.FirstHeight != 1 || report.LastHeight != blocks || report.Blocks != blocks {
		t.Errorf("heights are %d to %d, %d blocks", report.FirstHeight, report.LastHeight, report.Blocks)
	}
	for _, row := range report.Spans {
		if row.Span == "witness_make" && (row.Milliseconds != trace.Figures{P50: 203, P95: 203, Max: 203}) {
			t.Errorf("witness_make is %+v, want 203 ms", row.Milliseconds)
		}
	}
}

// The segments of a path follow each other from the block before to this one.
func TestPathsHaveNoHoles(t *testing.T) {
	t.Parallel()
	model := usual()
	model.link = func(from, to int) time.Duration { return time.Duration(1+3*from+to) * time.Millisecond }
	spans := model.run(blocks)
	for i := range spans {
		// Others had the block before sooner than the leader.
		if span := &spans[i]; span.Name == "block" && span.Height%2 == 0 {
			span.Begin = span.Begin.Add(5500 * time.Microsecond)
		}
	}
	for _, path := range trace.NewReport(spans).Paths {
		at := path.Begin
		for _, segment := range path.Segments {
			if !segment.Begin.Equal(at) || !segment.End.After(at) {
				t.Fatalf("height %d: after %s comes %+v", path.Height, at, segment)
			}
			at = segment.End
		}
		if !at.Equal(path.End) {
			t.Errorf("height %d: the path ends at %s, the block at %s", path.Height, at, path.End)
		}
	}
}

// A turn that begins late is what the block waited for, and whoever lost the turn
// before is not blamed on links.
func TestALateTurn(t *testing.T) {
	t.Parallel()
	spans := usual().run(1)
	for i := range spans {
		span := &spans[i]
		late := slices.Contains([]string{"collect", "endorsed", "propose", "verify", "notarise", "finalise", "record_block", "block"}, span.Name)
		if late && span.Name != "block" {
			span.Begin = span.Begin.Add(time.Second)
		}
		if late {
			span.End = span.End.Add(time.Second)
		}
	}
	report := trace.NewReport(spans)
	if row := report.Phases[0]; row.Phase != trace.Turn || row.Milliseconds.Max < 900 {
		t.Errorf("the first phase is %+v, want about a second of waiting for the turn", row)
	}
}

func TestATraceWithoutItsBlockIsCounted(t *testing.T) {
	t.Parallel()
	spans := slices.DeleteFunc(usual().run(3), func(span trace.Span) bool {
		return span.Height == 2 && span.Name == "block"
	})
	report := trace.NewReport(spans)
	if report.Blocks != 2 || len(report.Incomplete) != 1 || report.Incomplete[0].Height != 2 {
		t.Errorf("%d blocks, incomplete: %v", report.Blocks, report.Incomplete)
	}
	var text bytes.Buffer
	if err := trace.NewReport(nil).WriteText(&text, 5); err != nil || !strings.HasPrefix(text.String(), "no block") {
		t.Errorf("the report of nothing is %q, %v", text.String(), err)
	}
}

func TestReportAsTextAndJSON(t *testing.T) {
	t.Parallel()
	report := trace.NewReport(usual().run(blocks))
	var text, document bytes.Buffer
	if err := report.WriteText(&text, 3); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"40 blocks from height 1 to 40\n", "waited for\n", "shard 1\n", "and 1 more\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	if err := report.WriteJSON(&document); err != nil {
		t.Fatal(err)
	}
	var read trace.Report
	if err := json.Unmarshal(document.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.Blocks != blocks || len(read.Paths) != blocks || read.Phases[0].Phase != report.Phases[0].Phase {
		t.Errorf("read back: %d blocks, %d paths, %+v", read.Blocks, len(read.Paths), read.Phases)
	}
}

// The spans of the node contract are the ones that paths know.
func TestSpansAreThoseOfTheNodeContract(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile(filepath.Join("..", "..", "docs", "node-contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(contract), "| span | recorded by | is |\n|---|---|---|\n")
	if !found {
		t.Fatal("the node contract has no table of spans")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` ").FindAllStringSubmatch(table, -1) {
		listed[row[1]] = true
	}
	if got, want := slices.Sorted(slices.Values(trace.Names())), slices.Sorted(maps.Keys(listed)); !slices.Equal(got, want) {
		t.Errorf("spans are %v, the contract has %v", got, want)
	}
}
