// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// event is one of the Chrome trace event format, which Perfetto reads.
type event struct {
	Phase     string         `json:"ph"`
	Name      string         `json:"name"`
	Category  string         `json:"cat,omitempty"`
	Process   int            `json:"pid"`
	Thread    int            `json:"tid"`
	Timestamp float64        `json:"ts"`
	Duration  *float64       `json:"dur,omitempty"`
	ID        int            `json:"id,omitempty"`
	Binding   string         `json:"bp,omitempty"`
	Arguments map[string]any `json:"args,omitempty"`
}

// pathProcess is the lane of the critical paths, above the nodes'.
const pathProcess = 1

// WritePerfetto writes spans for https://ui.perfetto.dev: a process for each node,
// with lanes for each shard and for blocks, one for the critical paths above, and
// arrows from what a span waited for last, if that was of another node.
func WritePerfetto(w io.Writer, spans []Span) error {
	spans = byBegin(spans)
	export := export{processes: map[string]int{}, lanes: lanes{}, threads: map[lane][]int{}}
	export.name("process_name", pathProcess, 0, "critical path")
	byHeight := map[uint64][]Span{}
	threads := map[Span]int{}
	for _, span := range spans {
		byHeight[span.Height] = append(byHeight[span.Height], span)
		threads[span] = export.add(span)
	}
	for _, height := range slices.Sorted(maps.Keys(byHeight)) {
		export.addPath(byHeight[height], func(height uint64) []Span { return byHeight[height] })
		export.addFlows(byHeight[height], threads)
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": export.events, "displayTimeUnit": "ms"})
}

type export struct {
	events    []event
	processes map[string]int
	lanes     lanes
	// threads are those of a lane's rows.
	threads map[lane][]int
	// last is the highest thread.
	last  int
	flows int
}

func (e *export) name(kind string, process, thread int, name string) {
	e.events = append(e.events, event{
		Phase: "M", Name: kind, Process: process, Thread: thread, Arguments: map[string]any{"name": name},
	})
}

// add adds a span, and returns its thread.
func (e *export) add(span Span) int {
	process, ok := e.processes[span.Node]
	if !ok {
		process = pathProcess + 1 + len(e.processes)
		e.processes[span.Node] = process
		e.name("process_name", process, 0, span.Node+" ("+span.Region+")")
	}
	thread := e.thread(span, process)
	arguments := map[string]any{"height": span.Height}
	if span.Shard != NoShard {
		arguments["shard"] = span.Shard
	}
	e.events = append(e.events, slice(span.Name, string(kinds[span.Name].phase), process, thread, span.Begin, span.End, arguments))
	return thread
}

// thread is that of the row that a span lies in.
func (e *export) thread(span Span, process int) int {
	of, row := laneOf(span), e.lanes.row(span)
	if row < len(e.threads[of]) {
		return e.threads[of][row]
	}
	e.last++
	name := "blocks"
	if of.shard != NoShard {
		name = fmt.Sprintf("shard %d", of.shard)
	}
	if of.whole {
		name += ", whole"
	}
	e.name("thread_name", process, e.last, name)
	e.threads[of] = append(e.threads[of], e.last)
	return e.last
}

func (e *export) addPath(spans []Span, of Heights) {
	path, err := CriticalPath(spans, of)
	if err != nil {
		return
	}
	for _, segment := range path.Segments {
		arguments := map[string]any{"height": path.Height, "span": segment.Span, "node": segment.Node, "region": segment.Region}
		if segment.Shard != NoShard {
			arguments["shard"] = segment.Shard
		}
		name := fmt.Sprintf("%s: %s, %s", segment.Phase, segment.Span, segment.Node)
		e.events = append(e.events, slice(name, string(segment.Phase), pathProcess, 0, segment.Begin, segment.End, arguments))
	}
}

// addFlows adds an arrow to every span that waited for another node.
func (e *export) addFlows(spans []Span, threads map[Span]int) {
	for _, span := range spans {
		walk := walk{spans: spans, at: span.End}
		cause, ended, ok := walk.cause(span)
		if !ok || cause.Node == span.Node {
			continue
		}
		e.flows++
		e.events = append(e.events,
			event{
				Phase: "s", Name: "waits", Category: "waits", ID: e.flows,
				Process: e.processes[cause.Node], Thread: threads[cause], Timestamp: microseconds(ended),
			},
			event{
				Phase: "f", Name: "waits", Category: "waits", ID: e.flows, Binding: "e",
				Process: e.processes[span.Node], Thread: threads[span], Timestamp: microseconds(later(span.Begin, ended)),
			})
	}
}

func slice(name, category string, process, thread int, begin, end time.Time, arguments map[string]any) event {
	duration := float64(end.Sub(begin)) / float64(time.Microsecond)
	return event{
		Phase: "X", Name: name, Category: category, Process: process, Thread: thread,
		Timestamp: microseconds(begin), Duration: &duration, Arguments: arguments,
	}
}

func microseconds(at time.Time) float64 {
	return float64(at.UnixNano()) / float64(time.Microsecond)
}
