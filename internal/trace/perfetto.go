// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
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
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(a.Begin.Compare(b.Begin), b.End.Compare(a.End), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name))
	})
	export := export{processes: map[string]int{}, lanes: map[lane][]int{}, ends: map[int]time.Time{}}
	export.name("process_name", pathProcess, 0, "critical path")
	byHeight := map[uint64][]Span{}
	threads := map[Span]int{}
	for _, span := range spans {
		byHeight[span.Height] = append(byHeight[span.Height], span)
		threads[span] = export.add(span)
	}
	for _, height := range slices.Sorted(maps.Keys(byHeight)) {
		export.addPath(byHeight[height])
		export.addFlows(byHeight[height], threads)
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": export.events, "displayTimeUnit": "ms"})
}

// lane is where spans of a node lie that belong together.
type lane struct {
	node  string
	shard int
	whole bool
}

type export struct {
	events    []event
	processes map[string]int
	// lanes have threads, as many as there are spans at a time.
	lanes   map[lane][]int
	ends    map[int]time.Time
	threads int
	flows   int
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
	of := lane{span.Node, span.Shard, span.Name == "block" || span.Name == "chunk"}
	thread := e.thread(of, span, process)
	arguments := map[string]any{"height": span.Height}
	if span.Shard != NoShard {
		arguments["shard"] = span.Shard
	}
	e.events = append(e.events, slice(span.Name, string(kinds[span.Name].phase), process, thread, span.Begin, span.End, arguments))
	return thread
}

// thread is the first one of a lane that is free: spans of one must not overlap.
func (e *export) thread(of lane, span Span, process int) int {
	for _, thread := range e.lanes[of] {
		if !e.ends[thread].After(span.Begin) {
			e.ends[thread] = span.End
			return thread
		}
	}
	e.threads++
	name := "blocks"
	if of.shard != NoShard {
		name = fmt.Sprintf("shard %d", of.shard)
	}
	if of.whole {
		name += ", whole"
	}
	e.name("thread_name", process, e.threads, name)
	e.lanes[of] = append(e.lanes[of], e.threads)
	e.ends[e.threads] = span.End
	return e.threads
}

func (e *export) addPath(spans []Span) {
	path, err := CriticalPath(spans)
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
