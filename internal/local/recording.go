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
)

// recording asks for what the record of a run is made from.
type recording struct {
	recorder *record.Recorder
	blocks   *record.Follower
	usage    usage.Reader
	load     *loading.Load
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
	plan := record.Plan{Settled: load.Schedule.Settled(), WarmUp: options.WarmUp, Duration: options.Duration}
	recorder := record.New(plan, run.window.Begin, run.base.GenesisHash)
	switch {
	case load.Count > 0:
		// The network is a new one: its pools have refused nothing.
		count := record.Count{Transfers: uint64(load.Count), Limit: options.Duration}
		recorder = record.NewCounted(count, run.window.Begin, run.base.GenesisHash)
	case load.Loop != nil || users != nil:
		recorder = record.NewUnsettled(run.window.Begin, run.base.GenesisHash)
	}
	return &recording{
		recorder: recorder,
		blocks:   record.NewFollower(recorder, run.audit, run.base.FinalizedHeight),
		usage:    usage.NewReader(),
		load:     load,
		clients:  users,
		plan:     plan,
		company:  options.Company,
	}
}

// longest is how long it takes until everything is recorded, or never will be.
func (r *recording) longest() time.Duration {
	settling := r.plan.Settled
	if r.clients != nil {
		settling = r.clients.Longest(supervision.StopGrace)
	}
	if r.load.Loop != nil {
		settling = r.load.Loop.MostSettling
	}
	return settling + r.plan.WarmUp + r.plan.Duration + standstillPatience
}

// take records a sample of the run, and the blocks that were finalised since the
// last one. The error is a contradiction between what nodes told.
func (r *run) take(ctx context.Context, sample bench.Sample) error {
	taken := record.Sample{At: time.Now(), Host: r.recording.usage.Host()}
	taken.OfferedPerSecond = float64(r.recording.load.Rate(taken.At.Sub(r.window.Begin)))
	if loop := r.recording.load.Loop; loop != nil {
		r.steer(loop, sample, &taken)
	}
	r.recording.attend(&taken)
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

// steer has the controller of a closed loop, or a search, see a sample. The
// measurement begins once its rate is steady.
func (r *run) steer(loop *loading.Loop, sample bench.Sample, taken *record.Sample) {
	decision := loop.Observe(sample, taken.At)
	if decision == nil {
		return
	}
	taken.OfferedPerSecond, taken.Control = float64(decision.TransfersPerSecond), decision.Row()
	r.announceSteps()
	if recorder := r.recording.recorder; decision.Steady && !recorder.Settled() {
		recorder.Settle(taken.At, r.recording.plan.WarmUp, r.recording.plan.Duration)
		r.console.Printf("load: steady at %s after %s", console.Plural(decision.TransfersPerSecond, "transfer")+" per second",
			taken.At.Sub(r.window.Begin).Round(time.Second))
	}
}

// attend has a sample say what clients send. The measurement is of their last step.
func (r *recording) attend(taken *record.Sample) {
	if r.clients == nil {
		return
	}
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
	return r.load.Loop.Unsettled()
}
