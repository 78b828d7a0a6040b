// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/clients"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/local/usage"
	"github.com/shardyard/shardyard/internal/topology"
)

// recording asks for what the record of a run is made from.
type recording struct {
	recorder *record.Recorder
	blocks   *record.Follower
	usage    usage.Reader
	load     *loading.Load
	// driver is who tells the producers their shares, and signed what each said last that it
	// signs. Those that are heard have said so since the last step began.
	driver *loading.Driver
	signed map[string]int64
	heard  map[string]bool
	// blamed is the first fault of the load; empty while there is none.
	blamed string
	// clients are nil when producers sign the load.
	clients *clients.Clients
	plan    record.Plan
	// settled is told, with each sample, when the measurement is, zero until it is known;
	// nil if nobody wants to know.
	settled func(result.Window)
	// announced are the steps of a search that somebody has read of.
	announced int
	// company are the runs that this one is made side by side with, and left says that
	// they know that it has measured.
	company *Company
	left    bool
}

// newRecording begins the record of a run.
func newRecording(run *run, load *loading.Load, users *clients.Clients, options RecordOptions) *recording {
	recorder := record.NewUnsettled(run.window.Begin, run.base.GenesisHash)
	if load.Count > 0 {
		// The network is a new one: its pools have refused nothing.
		count := record.Count{Transfers: uint64(load.Count), Limit: options.Duration}
		recorder = record.NewCounted(count, run.window.Begin, run.base.GenesisHash)
	}
	return &recording{
		recorder: recorder,
		blocks:   record.NewFollower(recorder, run.audit, run.base.FinalizedHeight),
		usage:    usage.NewReader(),
		load:     load,
		driver:   run.load,
		signed:   map[string]int64{},
		heard:    map[string]bool{},
		clients:  users,
		plan:     record.Plan{Settled: load.Schedule.Settled(), WarmUp: options.WarmUp, Duration: options.Duration},
		company:  options.Company,
	}
}

// longest is how long it takes until everything is recorded, or never will be.
func (r *recording) longest() time.Duration {
	var settling time.Duration
	switch {
	case r.clients != nil:
		settling = r.clients.Longest(supervision.StopGrace)
	case r.load.Loop != nil:
		settling = r.load.Loop.MostSettling
	case r.load.Count == 0:
		settling = r.plan.Settled + loading.Patience
	default:
		// What is measured of it begins with the load.
	}
	return settling + r.plan.WarmUp + r.plan.Duration + standstillPatience
}

// take records a sample of the run, and the blocks that were finalised since the
// last one. The error is a contradiction between what nodes told.
func (r *run) take(ctx context.Context, sample bench.Sample) error {
	taken := record.Sample{At: time.Now(), Host: r.recording.usage.Host()}
	r.recording.watch(taken.At)
	switch load := r.recording.load; {
	case r.recording.clients != nil:
		r.recording.attend(&taken)
	case load.Loop != nil:
		r.steer(load.Loop, sample, &taken)
	case load.Count == 0:
		r.followLoad(sample, &taken)
	default:
		// It has no rate that could be another one.
	}
	if settled := r.recording.settled; settled != nil {
		settled(r.recording.recorder.Window())
	}
	var sources []record.Source
	tellers := make([]record.Teller, 0, len(r.group.Supervisors))
	for i, supervisor := range r.group.Supervisors {
		status := sample.Nodes[i].Status
		taken.Nodes = append(taken.Nodes, record.Node{
			Validator: supervisor.Node.Validator,
			Status:    status,
			Usage:     r.recording.usage.Process(supervisor.Current().PID),
		})
		tellers = append(tellers, record.Teller{Name: supervisor.Name(), Metrics: supervisor.Client})
		if status != nil {
			sources = append(sources, record.Source{
				Name: supervisor.Name(), FinalizedHeight: status.FinalizedHeight, Blocks: supervisor.Client,
			})
		}
	}
	r.recording.recorder.Sample(taken)
	err := r.recording.blocks.Follow(ctx, sources)
	r.recording.recorder.Count(ctx, taken.At, tellers)
	return err
}

// watch sees that the producers take their shares of the load.
func (r *recording) watch(at time.Time) {
	if fault := r.driver.Fault(at); fault != "" {
		r.blame(fault)
	}
}

// blame keeps the first fault of the load, until it has measured.
func (r *recording) blame(fault string) {
	if r.blamed == "" && !r.left {
		r.blamed = fault
	}
}

// followLoad follows the load to the last step of its schedule, and sees that it stays there.
func (r *run) followLoad(sample bench.Sample, taken *record.Sample) {
	recorder, plan := r.recording.recorder, r.recording.plan
	elapsed := taken.At.Sub(r.window.Begin)
	signed, known := r.recording.hear(r.recording.driver.Validators(), sample, elapsed >= plan.Settled)
	taken.OfferedPerSecond = float64(signed)
	settles, fault := r.recording.load.Schedule.Settles(signed, known, recorder.Settled(), elapsed, loading.Patience)
	if fault != "" {
		r.recording.blame(fault)
	}
	if settles {
		recorder.Settle(taken.At, plan.WarmUp, plan.Duration)
	}
}

// hear is the rate that all producers sign together, as they told last, and whether all of
// them have told it in the last step: on a machine that is busy, one or another of them
// misses each sample.
func (r *recording) hear(validators []topology.Validator, sample bench.Sample, last bool) (rate int64, known bool) {
	known = true
	for i := range validators {
		if validators[i].Role != topology.RoleProducer {
			continue
		}
		name := validators[i].Name
		if status := sample.Nodes[i].Status; status != nil && status.Load != nil {
			r.signed[name], r.heard[name] = status.Load.TransfersPerSecond, last
		}
		rate += r.signed[name]
		known = known && r.heard[name]
	}
	return rate, known
}

// steer has the controller of a closed loop, or a search, see a sample. The
// measurement begins once its rate is steady and no validator refuses its share of it.
func (r *run) steer(loop *loading.Loop, sample bench.Sample, taken *record.Sample) {
	taken.OfferedPerSecond = float64(loop.Rate())
	decision := loop.Observe(sample, taken.At)
	if decision == nil {
		return
	}
	taken.OfferedPerSecond, taken.Control = float64(decision.TransfersPerSecond), decision.Row()
	r.announceSteps()
	if recorder := r.recording.recorder; decision.Steady && !recorder.Settled() && r.recording.driver.Refusal() == nil {
		recorder.Settle(taken.At, r.recording.plan.WarmUp, r.recording.plan.Duration)
		r.console.Printf("load: steady at %s after %s", console.Plural(decision.TransfersPerSecond, "transfer")+" per second",
			taken.At.Sub(r.window.Begin).Round(time.Second))
	}
}

// attend has a sample say what clients send. The measurement is of their last step.
func (r *recording) attend(taken *record.Sample) {
	state := r.clients.Current()
	taken.ByClients, taken.OfferedPerSecond = true, state.Offered(taken.At)
	if state.Last && !r.recorder.Settled() {
		r.recorder.Settle(state.Began, r.plan.WarmUp, r.plan.Duration)
	}
}

// announceSteps says what came of the rates that a search has tried since.
func (r *run) announceSteps() {
	found := r.recording.load.Found()
	if found == nil {
		return
	}
	for _, step := range found.Steps[r.recording.announced:] {
		outcome := "holds"
		if !step.Holds {
			outcome = "does not hold"
		}
		r.console.Printf("load: %s per second %s: %s", console.Plural(step.TransfersPerSecond, "transfer"), outcome, step.Words)
	}
	r.recording.announced = len(found.Steps)
}

// over says that there is nothing more to record.
func (r *recording) over(elapsed time.Duration) bool {
	if r.blamed != "" {
		// Those that it is made side by side with need not wait for it.
		r.company.leave(r.left)
		r.left = true
		return true
	}
	if r.unsettled() != "" {
		return elapsed > r.load.Loop.MostSettling
	}
	if r.clients != nil {
		if state := r.clients.Current(); state.Fault != nil || !state.Over() || r.blocks.Height() < state.LastHeight() {
			return state.Fault != nil
		}
	}
	if !r.recorder.Complete() {
		return false
	}
	all := r.company.leave(r.left)
	r.left = true
	return all
}

// unsettled says why there is no measurement; empty if there is one.
func (r *recording) unsettled() string {
	if r.load.Loop == nil || r.recorder.Settled() {
		return ""
	}
	return r.load.Loop.Unsettled(r.driver.Refusal())
}
