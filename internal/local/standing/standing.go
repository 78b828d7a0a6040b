// SPDX-License-Identifier: Apache-2.0

package standing

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/traces"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/internal/trace"
)

const (
	// window is what is looked at.
	window = time.Minute

	// age is how old an answer may be. However many ask, all is put together once in
	// this time.
	age = time.Second

	// patience is how long putting it together may take.
	patience = 10 * time.Second
)

// Floors are by how many milliseconds a figure has to be above those of the others to
// stand out: less than that is felt by nobody, or is chance.
const (
	executingFloor  = 3
	storingFloor    = 10
	travellingFloor = 10
	endorsingFloor  = 20
	executedFloor   = 10
)

// missedFloor is how many more turns than the others one has to miss to stand out.
const missedFloor = 2

// Network is a network whose validators can be compared.
type Network struct {
	Validators []topology.Validator
	Links      []topology.Link
	// Traces are nil if nothing is traced.
	Traces *traces.Recent
	// Executed are, by name, how long nodes took for an execution and to make it durable,
	// by their metrics.
	Executed func(ctx context.Context, window time.Duration) (map[string]trace.Mean, error)
	// Finalized is the newest block of each node that answers, by name.
	Finalized func(context.Context) map[string]uint64
	// Newest is a client of a node that has the newest finalised block, and the height of
	// that block; nil while no node answers.
	Newest func(context.Context) (*chain.Client, uint64)

	mutex  sync.Mutex
	blocks blocks
	answer []byte
	taken  time.Time
}

// table is how the validators stand.
type table struct {
	Seconds float64 `json:"seconds"`
	// TracedHeights is of how many heights there are spans of that time, and Blocks how
	// many finalised blocks of it were looked at.
	TracedHeights int `json:"tracedHeights"`
	Blocks        int `json:"blocks"`
	// Unknown says what could not be found out, and why.
	Unknown    []string `json:"unknown"`
	Validators []row    `json:"validators"`
	Ways       []way    `json:"ways"`
	Missed     []missed `json:"missed"`
}

// row is a validator.
type row struct {
	Name   string        `json:"name"`
	Region string        `json:"region"`
	Role   topology.Role `json:"role"`
	// Answers says whether it answers now, and BlocksBehind how far it is below the
	// newest finalised block; nil for one that does not answer.
	Answers      bool    `json:"answers"`
	BlocksBehind *uint64 `json:"blocksBehind"`
	// The figures are means in milliseconds; nil for what nobody told.
	Executing     *figure `json:"executing"`
	Storing       *figure `json:"storing"`
	Travelling    *figure `json:"travelling"`
	EndorsingLate *figure `json:"endorsingLate"`
	Executed      *figure `json:"executed"`
	// Turns is how many chunks were its to produce, and Missed how many of them are
	// missing; nil for one that produces none, and if no block was looked at.
	Turns          *int `json:"turns"`
	Missed         *int `json:"missed"`
	MissedOutlying bool `json:"missedOutlying"`
	// Says is how it stands out, in words; empty if it does not.
	Says string `json:"says"`
}

// way is that between two regions, or within one, in both directions.
type way struct {
	Between [2]string `json:"between"`
	*figure
}

// ServeHTTP answers with how the validators stand, as JSON.
func (n *Network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := n.newest(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Whoever does not wait for the answer does not need it.
	_, _ = w.Write(content)
}

func (n *Network) newest(ctx context.Context) ([]byte, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if time.Since(n.taken) < age {
		return n.answer, nil
	}
	// Others get it too, should this one not wait for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	answer, err := json.Marshal(n.table(ctx, time.Now()))
	if err != nil {
		return nil, err
	}
	n.answer, n.taken = answer, time.Now()
	return answer, nil
}

func (n *Network) table(ctx context.Context, now time.Time) *table {
	table := &table{Seconds: window.Seconds(), Unknown: []string{}, Ways: []way{}, Missed: []missed{}}
	for i := range n.Validators {
		validator := &n.Validators[i]
		table.Validators = append(table.Validators, row{Name: validator.Name, Region: validator.Region, Role: validator.Role})
	}
	n.addAnswers(ctx, table)
	n.addSpans(table, now.Add(-window))
	executed, err := n.Executed(ctx, window)
	table.lacks("the metrics", err)
	table.addFigures(executedFloor, func(row *row) *trace.Mean { return found(executed, row.Name) },
		func(row *row, figure *figure) { row.Executed = figure })
	if client, finalized := n.Newest(ctx); client != nil {
		table.lacks("missed chunks", n.blocks.follow(ctx, client, finalized, now.Add(-window)))
	}
	n.addMissed(table)
	for i := range table.Validators {
		table.Validators[i].Says = table.says(&table.Validators[i])
	}
	return table
}

func (t *table) lacks(what string, err error) {
	if err != nil {
		t.Unknown = append(t.Unknown, what+": "+err.Error())
	}
}

func (n *Network) addAnswers(ctx context.Context, table *table) {
	finalized := n.Finalized(ctx)
	highest := uint64(0)
	for _, height := range finalized {
		highest = max(highest, height)
	}
	for i := range table.Validators {
		row := &table.Validators[i]
		height, ok := finalized[row.Name]
		if row.Answers = ok; ok {
			behind := highest - height
			row.BlocksBehind = &behind
		}
	}
}

func (n *Network) addSpans(table *table, since time.Time) {
	spans := n.Traces.Since(since)
	heights := map[uint64]bool{}
	for _, span := range spans {
		heights[span.Height] = true
	}
	table.TracedHeights = len(heights)
	nodes, ways := trace.NodesOf(spans, n.delay)
	byName := map[string]trace.NodeFigures{}
	for _, node := range nodes {
		byName[node.Node] = node
	}
	for _, column := range []struct {
		floor float64
		of    func(*row) *trace.Mean
		set   func(*row, *figure)
	}{
		{executingFloor, func(r *row) *trace.Mean { return byName[r.Name].Executing }, func(r *row, f *figure) { r.Executing = f }},
		{storingFloor, func(r *row) *trace.Mean { return byName[r.Name].Storing }, func(r *row, f *figure) { r.Storing = f }},
		{travellingFloor, func(r *row) *trace.Mean { return byName[r.Name].Travelling }, func(r *row, f *figure) { r.Travelling = f }},
		{endorsingFloor, func(r *row) *trace.Mean { return byName[r.Name].EndorsingLate }, func(r *row, f *figure) { r.EndorsingLate = f }},
	} {
		table.addFigures(column.floor, column.of, column.set)
	}
	means := make([]*trace.Mean, 0, len(ways))
	for i := range ways {
		means = append(means, &ways[i].Mean)
	}
	for i, figure := range compare(means, travellingFloor) {
		table.Ways = append(table.Ways, way{ways[i].Between, figure})
	}
}

// addFigures compares one figure of all validators.
func (t *table) addFigures(floor float64, of func(*row) *trace.Mean, set func(*row, *figure)) {
	means := make([]*trace.Mean, 0, len(t.Validators))
	for i := range t.Validators {
		means = append(means, of(&t.Validators[i]))
	}
	for i, figure := range compare(means, floor) {
		set(&t.Validators[i], figure)
	}
}

func found(means map[string]trace.Mean, name string) *trace.Mean {
	mean, ok := means[name]
	if !ok {
		return nil
	}
	return &mean
}

// delay is that of the link between two regions.
func (n *Network) delay(from, to string) time.Duration {
	i := slices.IndexFunc(n.Links, func(link topology.Link) bool {
		other, ok := link.To(from)
		return ok && other == to
	})
	if i < 0 {
		return 0
	}
	return time.Duration(n.Links[i].DelayMilliseconds) * time.Millisecond
}
