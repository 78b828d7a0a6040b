// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/trace"
)

// checkTraces checks that the nodes of a run that went on from one height to
// another have recorded all that there is, and that it says what the blocks
// waited for.
func checkTraces(t *testing.T, stateDir string, from, to uint64) {
	t.Helper()
	spans, err := local.ReadSpans(stateDir, "small")
	if err != nil {
		t.Fatal(err)
	}
	checkSpans(t, spans)
	stdout, code := shardyard(t, "trace", "critical-path", "--network", "small", "--state-dir", stateDir, "-o", "json")
	var report trace.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 {
		t.Fatalf("trace critical-path exits with %d: %v\n%s", code, err, stdout)
	}
	// The nodes went on for a moment after the run had last looked at them.
	if report.Blocks == 0 || report.FirstHeight <= from || report.LastHeight < to-min(to, 3) {
		t.Fatalf("the report is of %d blocks from %d to %d, the run went from %d to %d",
			report.Blocks, report.FirstHeight, report.LastHeight, from, to)
	}
	several := 0
	for _, path := range report.Paths {
		var sum time.Duration
		for _, segment := range path.Segments {
			sum += segment.Duration()
		}
		if sum != path.Duration() || len(path.Segments) == 0 {
			t.Errorf("height %d took %s, its %d segments %s", path.Height, path.Duration(), len(path.Segments), sum)
		}
		if len(path.Segments) > 1 {
			several++
		}
	}
	// Of two blocks that become final at once, as when nodes catch up after a start, the
	// second waits for nothing but its own storing.
	if 2*several < len(report.Paths) {
		t.Errorf("of %d paths, %d have more than one segment", len(report.Paths), several)
	}
}

// checkSpans checks that all five validators recorded, and somebody each name.
func checkSpans(t *testing.T, spans []trace.Span) {
	t.Helper()
	recorded, nodes := map[string]bool{}, map[string]bool{}
	for _, span := range spans {
		recorded[span.Name], nodes[span.Node] = true, true
		if span.End.Before(span.Begin) || span.Network != "small" || span.Region != "local" {
			t.Fatalf("a span is %+v", span)
		}
	}
	// A leader waits for the earliest time of its block only if it is fast.
	recorded["pace"] = true
	for _, name := range trace.Names() {
		if !recorded[name] {
			t.Errorf("no node recorded a span %s", name)
		}
	}
	if len(nodes) != 5 {
		t.Errorf("spans are of %v, want all five validators", nodes)
	}
}
