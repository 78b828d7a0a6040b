// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

// With whatever lag, what a node that stores blocks slowly begins late is laid to its
// storing.
func TestSlowStoresWithALag(t *testing.T) {
	t.Parallel()
	for lag := uint64(1); lag <= 4; lag++ {
		t.Run(fmt.Sprintf("lag %d", lag), func(t *testing.T) {
			t.Parallel()
			model := usual()
			model.lag = lag
			slower(300*time.Millisecond, func(span trace.Span) bool { return span.Name == "record_block" && span.Node == "n2" })(model)
			spans := model.run(blocks)
			report := trace.NewReport(spans)
			if len(report.Incomplete) > 0 {
				t.Fatalf("%d blocks, incomplete: %v", report.Blocks, report.Incomplete)
			}
			want := trace.Row{Phase: trace.Persistence, Span: "record_block", Node: "n2", Region: "north"}
			if !isOf(report.Places[0], want) || report.Places[0].Milliseconds.Max < 200 {
				t.Errorf("the first place is %+v, want %+v", report.Places[0], want)
			}
			for _, row := range report.Places {
				if row.Node == "n2" && row.Phase != trace.Persistence && row.Milliseconds.Max > 10 {
					t.Errorf("blocks wait for %+v, and should for nothing else of n2", row)
				}
			}
		})
	}
}

// at is a span of a node, at height 10 and between so many milliseconds.
func at(name string, begin, end int64) trace.Span {
	return trace.Span{
		Name: name, Height: 10, View: 10, Shard: trace.NoShard, Node: "n", Region: "r",
		Begin: time.UnixMilli(begin), End: time.UnixMilli(end),
	}
}

// of is a span of another height, and of the execution of a chunk if one is named.
func of(height uint64, span trace.Span, executed uint64) trace.Span {
	span.Height, span.View, span.Executed = height, height, executed
	if executed > 0 {
		span.Shard = 0
	}
	return span
}

// What an execution waited for last is the storing of the block whose chunk it is of, by
// the height that it names, or the execution before, which is of the block before.
func TestExecutionWaitsForTheBlockThatItExecutes(t *testing.T) {
	t.Parallel()
	for lag := uint64(1); lag <= 4; lag++ {
		for span, ends := range map[string]struct{ stored, recorded int64 }{
			"record_block": {stored: 150, recorded: 120}, "record": {stored: 120, recorded: 150},
		} {
			t.Run(fmt.Sprintf("lag %d, %s", lag, span), func(t *testing.T) {
				t.Parallel()
				spans := []trace.Span{
					at("block", 100, 200), at("propose", 165, 170), at("notarise", 170, 180), at("finalise", 180, 190),
					at("record_block", 190, 200), of(10, at("gather", 150, 152), 10-lag), of(10, at("execute", 152, 160), 10-lag),
					of(10, at("record", 160, 165), 10-lag),
				}
				// Of the blocks in between, and of those before, it waited for nothing.
				earlier := map[uint64][]trace.Span{}
				for height := uint64(5); height < 10; height++ {
					earlier[height] = []trace.Span{of(height, at("record_block", 90, 151), 0), of(height, at("record", 90, 151), height-lag)}
				}
				earlier[9][1].End = time.UnixMilli(ends.recorded)
				earlier[10-lag][0].End = time.UnixMilli(ends.stored)
				path, err := trace.CriticalPath(spans, func(height uint64) []trace.Span { return earlier[height] })
				if err != nil {
					t.Fatal(err)
				}
				first := path.Segments[0]
				if first.Span != span || first.Phase != trace.Persistence || first.Duration() != 50*time.Millisecond {
					t.Errorf("the block waited for %+v first, want 50 ms of %s", first, span)
				}
			})
		}
	}
}

// Spans that do not say which chunk they execute are taken to be of the block before.
func TestExecutionsThatNameNoHeight(t *testing.T) {
	t.Parallel()
	model := usual()
	slower(50*time.Millisecond, func(span trace.Span) bool { return span.Name == "record_block" && span.Node == "n2" })(model)
	spans := model.run(blocks)
	said := trace.NewReport(spans)
	for i := range spans {
		spans[i].Executed = 0
	}
	if unsaid := trace.NewReport(spans); !reflect.DeepEqual(unsaid.Places, said.Places) {
		t.Errorf("blocks wait for %+v, want %+v", unsaid.Places, said.Places)
	}
}
