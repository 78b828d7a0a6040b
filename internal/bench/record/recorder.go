// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"
	"time"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

// Plan says when a run is measured, counted from when its load begins.
type Plan struct {
	// Settled is when the last step of the load begins.
	Settled time.Duration
	// WarmUp is how long that lasts before the measurement begins.
	WarmUp time.Duration
	// Duration is how long the measurement lasts.
	Duration time.Duration
}

// window is the time that is measured.
func (p Plan) window(began time.Time) result.Window {
	begin := began.Add(p.Settled + p.WarmUp)
	return result.Window{BeginMs: begin.UnixMilli(), EndMs: begin.Add(p.Duration).UnixMilli()}
}

// Recorder records one run.
type Recorder struct {
	run    result.Run
	blocks blocks
	// first and last are the first and the last sample of the window.
	first, last *Sample
	peaks       map[string]*uint64
	// due are the transfers that were offered between those two.
	due float64
	// lowest are the last blocks that the node which is furthest behind had processed, of
	// each sample.
	lowest []uint64
	// counting is nil unless the load is a fixed count.
	counting *counting
	// answered says that all nodes of the last sample told their status, and turns counts
	// how often they might have been asked why transfers failed.
	answered bool
	turns    int
	// failures are what they told last, and explained is of how many it says why.
	failures  *result.Failures
	explained *fallen
	// begin and end are what the nodes had counted at the edges of the window.
	begin, end *counted
}

// New begins the record of a run whose load begins now.
func New(plan Plan, began time.Time, genesisHash string) *Recorder {
	return &Recorder{
		run: result.Run{
			StartedAt:   began,
			LoadBeganMs: began.UnixMilli(),
			GenesisHash: genesisHash,
			Window:      plan.window(began),
		},
		blocks: blocks{included: map[chunk]uint64{}},
		peaks:  map[string]*uint64{},
	}
}

// NewUnsettled begins the record of a run whose load begins now, and of which
// nobody knows yet when the load reaches its last step: Settle says it.
func NewUnsettled(began time.Time, genesisHash string) *Recorder {
	recorder := New(Plan{}, began, genesisHash)
	recorder.run.Window = result.Window{}
	return recorder
}

// Settle says that the load has reached its last step. The measurement is of what
// is sampled from then on.
func (r *Recorder) Settle(at time.Time, warmUp, duration time.Duration) {
	r.run.Window = Plan{WarmUp: warmUp, Duration: duration}.window(at)
}

// Settled says whether it is known when the measurement is.
func (r *Recorder) Settled() bool { return r.run.Window.EndMs > 0 }

// Window is the time that is measured; zero until it is known.
func (r *Recorder) Window() result.Window { return r.run.Window }

// Block takes the next finalised block.
func (r *Recorder) Block(block *chain.Block) error {
	if err := r.blocks.add(block); err != nil {
		return err
	}
	if r.counting != nil && !r.Settled() {
		r.run.Window.EndMs = r.counting.end(&r.blocks)
		r.takePending()
	}
	return nil
}

// Before takes a finalised block from before the first one, for how many transactions its
// chunks have: what a later block executes of them is told from what fails by that.
func (r *Recorder) Before(block *chain.Block) { r.blocks.before(block) }

// Complete says that a block was finalised after the window: everything that it
// takes to measure is there.
func (r *Recorder) Complete() bool {
	count := len(r.blocks.rows)
	return r.Settled() && count > 0 && r.blocks.rows[count-1].TimestampMs >= r.run.Window.EndMs
}

// Sample takes the next sample.
func (r *Recorder) Sample(sample Sample) {
	row := sample.row()
	r.run.Samples = append(r.run.Samples, row)
	r.lowest = append(r.lowest, sample.lowest())
	r.answered = !slices.ContainsFunc(sample.Nodes, func(node Node) bool { return node.Status == nil })
	if r.counting != nil {
		r.counting.hear(&sample, row.Rejected)
		r.takePending()
		return
	}
	if r.Settled() {
		r.take(&sample, r.run.Window.EndMs)
	}
}

// take takes a sample for the measurement, if it is of it.
func (r *Recorder) take(sample *Sample, endMs int64) {
	if at := sample.At.UnixMilli(); at < r.run.Window.BeginMs || at > endMs {
		return
	}
	if r.first == nil {
		r.first, r.last = sample, sample
	}
	r.due += r.last.OfferedPerSecond * sample.At.Sub(r.last.At).Seconds()
	r.last = sample
	for i := range sample.Nodes {
		r.observePeak(&sample.Nodes[i], r.first == sample)
	}
}

// observePeak keeps the most memory of a node. It is not known if it was not
// known at one time.
func (r *Recorder) observePeak(node *Node, first bool) {
	name, memory := node.Validator.Name, node.Usage.MemoryBytes
	switch before := r.peaks[name]; {
	case first:
		r.peaks[name] = memory
	case before == nil || memory == nil:
		r.peaks[name] = nil
	case *memory > *before:
		r.peaks[name] = memory
	}
}

// Run is the record. A fault is why the run does not count; empty if it does.
func (r *Recorder) Run(fault string) result.Run {
	run := r.run
	run.Blocks = r.blocks.rows
	if run.Fault = fault; fault == "" && !r.Complete() {
		run.Fault = "no block was finalised after the measurement: the chain stood still at its end"
	}
	r.concludeCount(&run, fault)
	if r.first != nil {
		for i := range r.last.Nodes {
			run.Nodes = append(run.Nodes, r.node(&r.first.Nodes[i], &r.last.Nodes[i]))
		}
	}
	run.Accounting = account(&run, r.lowest)
	run.Notes = notes(&run, r.due)
	counts, err := r.counts()
	if run.Counts = counts; err != nil && fault == "" {
		run.Notes = append(run.Notes, "what the nodes counted over the measurement is not known: "+err.Error())
	}
	return run
}

// node is what a node used between two samples.
func (r *Recorder) node(first, last *Node) result.Node {
	node := result.Node{
		Name:             last.Validator.Name,
		Role:             string(last.Validator.Role),
		CPUSeconds:       increase(first.cpuSeconds(), last.cpuSeconds()),
		PeakMemoryBytes:  r.peaks[last.Validator.Name],
		DiskReadBytes:    increase(first.Usage.DiskReadBytes, last.Usage.DiskReadBytes),
		DiskWrittenBytes: increase(first.Usage.DiskWrittenBytes, last.Usage.DiskWrittenBytes),
	}
	if seat := last.Validator.Seat; seat != nil {
		node.Shard = &seat.Shard
	}
	r.countsOf(&node)
	if last.Status != nil {
		node.Version, node.Formats = last.Status.Version, last.Status.Formats
	}
	return node
}

// increase is how much a counter rose; nil when that is not known.
func increase[Number uint64 | float64](first, last *Number) *Number {
	if first == nil || last == nil || *last < *first {
		return nil
	}
	rise := *last - *first
	return &rise
}
