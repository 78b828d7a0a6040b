// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/shardyard/shardyard/internal/trace"
)

// event is one of the file.
type event struct {
	Phase     string         `json:"ph"`
	Name      string         `json:"name"`
	Process   int            `json:"pid"`
	Thread    int            `json:"tid"`
	Timestamp float64        `json:"ts"`
	Duration  float64        `json:"dur"`
	ID        int            `json:"id"`
	Arguments map[string]any `json:"args"`
}

type track struct{ process, thread int }

func TestPerfetto(t *testing.T) {
	t.Parallel()
	spans := usual().run(5)
	var content bytes.Buffer
	if err := trace.WritePerfetto(&content, spans); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []event `json:"traceEvents"`
	}
	if err := json.Unmarshal(content.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	processes, tracks, flows := map[string]int{}, map[track][]event{}, map[int][]event{}
	for _, event := range file.TraceEvents {
		switch event.Phase {
		case "M":
			if event.Name == "process_name" {
				processes[event.Arguments["name"].(string)] = event.Process
			}
		case "X":
			on := track{event.Process, event.Thread}
			tracks[on] = append(tracks[on], event)
		case "s", "f":
			flows[event.ID] = append(flows[event.ID], event)
		}
	}
	if len(processes) != 1+nodes || processes["n3 (west)"] == 0 {
		t.Errorf("the processes are %v", processes)
	}
	found := checkTracks(t, tracks, processes["critical path"])
	if found != len(spans) {
		t.Errorf("%d spans are in the file, want %d", found, len(spans))
	}
	checkFlows(t, flows, tracks)
}

// checkTracks checks that nothing overlaps, and counts the spans.
func checkTracks(t *testing.T, tracks map[track][]event, path int) (spans int) {
	t.Helper()
	for on, events := range tracks {
		if on.process != path {
			spans += len(events)
		}
		slices.SortStableFunc(events, func(a, b event) int { return int(a.Timestamp - b.Timestamp) })
		for i := range len(events) - 1 {
			// Microseconds of today have no digits for a nanosecond.
			if events[i].Timestamp+events[i].Duration > events[i+1].Timestamp+1 {
				t.Errorf("on %+v %+v overlaps %+v", on, events[i], events[i+1])
			}
		}
	}
	return spans
}

// checkFlows checks that arrows go forward in time, from a span of one node to
// one of another.
func checkFlows(t *testing.T, flows map[int][]event, tracks map[track][]event) {
	t.Helper()
	if len(flows) < 50 {
		t.Errorf("there are %d arrows", len(flows))
	}
	for id, ends := range flows {
		if len(ends) != 2 || ends[0].Phase != "s" || ends[1].Phase != "f" {
			t.Fatalf("arrow %d is %+v", id, ends)
		}
		if ends[0].Process == ends[1].Process || ends[0].Timestamp > ends[1].Timestamp {
			t.Errorf("arrow %d goes from %+v to %+v", id, ends[0], ends[1])
		}
		for _, end := range ends {
			within := func(span event) bool {
				return span.Timestamp <= end.Timestamp+1 && end.Timestamp <= span.Timestamp+span.Duration+1
			}
			if !slices.ContainsFunc(tracks[track{end.Process, end.Thread}], within) {
				t.Errorf("arrow %d ends at no span: %+v", id, end)
			}
		}
	}
}
