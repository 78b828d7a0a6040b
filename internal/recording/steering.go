// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/control"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/topology"
)

// stopTimeout is how long the end of a load may take to be told to all producers.
const stopTimeout = 5 * time.Second

// Steering is a load that the recorder itself has the network carry: because its
// controller runs beside the record, or because the network is somebody else's.
type Steering struct {
	Load *loading.Load
	// InUse says that the network was there before the run, and has carried other loads.
	// What it still carries of one is ended, and executed, before this one begins.
	InUse bool
	// Admin is where a producer serves its admin API, who it is, and what opens it.
	Admin func(validator string) chain.Admin
}

// wheel steers the load of one run.
type wheel struct {
	// loop is nil when a schedule says the rates, or the load is a fixed count.
	loop *loading.Loop
	// count is how many transfers a fixed count has; 0 of another load.
	count  int64
	driver *loading.Driver
	log    *slog.Logger
	// end ends the driving that is under way; nil before it began.
	end     context.CancelFunc
	driving sync.WaitGroup
	// inUse is true of a network that was there before the run, and ended once it was
	// told to end its load of before.
	inUse, ended bool
	// rested is the height up to which chunks may hold transfers of before; 0 until the
	// network carries nothing.
	rested uint64
	// stocked is how many transfers the producers have signed before the load, and signed
	// when these last became more.
	stocked loading.Stocked
	signed  time.Time
	// seen is when any validator, or the controller of its chain, was heard of last.
	seen time.Time
	// told is what the validators had been told before they were asked last.
	told []*int64
}

// newWheel makes the wheel of a run; nil when somebody else steers.
func newWheel(options *Options, nodes nodes) *wheel {
	if options.Steering == nil {
		return nil
	}
	driven := loading.Options{
		Load: options.Steering.Load,
		Announce: func(rate int64) {
			options.Log.Info("the load is at a step", "transfersPerSecond", rate)
		},
		Refused: func(validator string, err error) {
			options.Log.Warn("a validator does not take its load", "validator", validator, "error", err.Error())
		},
	}
	for i := range nodes {
		driven.Nodes = append(driven.Nodes, loading.Node{
			Validator: nodes[i].validator,
			Client:    nodes[i].client,
			// A run counts only while each validator is the process that it was.
			Process: func() (int, bool) { return 0, true },
		})
	}
	return &wheel{
		loop: options.Steering.Load.Loop, count: options.Steering.Load.Count, inUse: options.Steering.InUse,
		driver: loading.NewDriver(driven), log: options.Log,
	}
}

// free says whether a load can begin: the network carries nothing, and all is signed
// that is signed before.
func (w *wheel) free(ctx context.Context, nodes nodes, answers []*chain.Status) (bool, error) {
	if rests, err := w.rests(ctx, nodes, answers); err != nil || !rests {
		return false, err
	}
	stocked, err := w.driver.SignBefore(ctx)
	if err != nil {
		return false, err
	}
	if w.stocked.Transfers == 0 && stocked.Transfers > 0 {
		w.log.Info("transfers are signed before the load", "transfers", stocked.Transfers)
	}
	if stocked.Signed > w.stocked.Signed {
		w.signed = time.Now()
	}
	// One that does not answer has not signed less.
	w.stocked = loading.Stocked{Signed: max(w.stocked.Signed, stocked.Signed), Transfers: stocked.Transfers}
	return stocked.Complete(), nil
}

// moved is when somebody who waits for a load that began to wait at a time saw last that
// it comes nearer.
func (w *wheel) moved(began time.Time) time.Time {
	if w == nil || w.signed.Before(began) {
		return began
	}
	return w.signed
}

// rests says whether the network carries nothing. One that was there before is told to
// end what it carries.
func (w *wheel) rests(ctx context.Context, nodes nodes, answers []*chain.Status) (bool, error) {
	if !w.inUse {
		return nodes.unloaded(answers)
	}
	if !w.ended {
		err := w.driver.Stop(ctx)
		if err != nil {
			w.log.Warn("the load of before did not end everywhere", "error", err.Error())
		}
		w.ended = err == nil
		// What was answered was so before.
		return false, nil
	}
	return w.executed(nodes, answers), nil
}

// executed says whether the network is at rest. Of a fixed count every transfer matters,
// so all chunks have to be final by then that transfers of before may be in.
func (w *wheel) executed(nodes nodes, answers []*chain.Status) bool {
	if !nodes.atRest(answers) {
		w.rested = 0
		return false
	}
	var known, final uint64
	for _, status := range answers {
		if status != nil {
			known, final = max(known, status.Height), max(final, status.FinalizedHeight)
		}
	}
	if w.rested == 0 {
		// The next chunks may be made already.
		w.rested = known + 1
	}
	return w.count == 0 || final >= w.rested
}

// begin has the producers sign what the controller asks for, from a time on.
func (w *wheel) begin(ctx context.Context, at time.Time) {
	ctx, w.end = context.WithCancel(ctx)
	w.seen = at
	w.driving.Go(func() { w.driver.Run(ctx, at) })
}

// stop has nobody sign anything any more, also when the context is done: whoever
// removes the network may be late.
func (w *wheel) stop(ctx context.Context) {
	if w == nil {
		return
	}
	if w.end != nil {
		w.end()
		w.driving.Wait()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := w.driver.Stop(ctx); err != nil {
		w.log.Warn("the load did not end everywhere", "error", err.Error())
	}
}

// fault is why a load that is steered cannot be measured; empty if it can.
func (w *wheel) fault(at time.Time) string {
	if blind := at.Sub(w.seen); blind > standstillPatience {
		return fmt.Sprintf("no validator answered for %s, and nothing was seen of the chain", blind.Round(time.Second))
	}
	return w.driver.Fault(at)
}

// mark keeps what the validators have been told, before they are asked.
func (w *wheel) mark() {
	if w == nil {
		return
	}
	w.told = w.told[:0]
	for i := range w.driver.Nodes {
		w.told = append(w.told, w.driver.Told(i))
	}
}

// meddled says which validator signs what nobody here told it; empty if none does.
func (w *wheel) meddled(nodes nodes, answers []*chain.Status) string {
	for i, status := range answers {
		told := w.told[i]
		if status == nil || status.Load == nil || told == nil || told != w.driver.Told(i) {
			continue
		}
		if signs := status.Load.TransfersPerSecond; signs != *told {
			return fmt.Sprintf("validator %s signs %d transfers per second, and was told %d: somebody else tells it as well",
				nodes[i].validator.Name, signs, *told)
		}
	}
	return ""
}

// observe has the controller see what nodes answered; nil when none did.
func (w *wheel) observe(at time.Time, nodes nodes, answers []*chain.Status) *control.Decision {
	var sample bench.Sample
	for i, status := range answers {
		sample.Nodes = append(sample.Nodes, bench.NodeSample{Name: nodes[i].validator.Name, Status: status})
	}
	decision := w.loop.Observe(sample, at)
	if decision != nil {
		w.seen = at
	}
	return decision
}

// unloaded says whether all producers answered that they sign nothing. The error is
// that one has signed something already: then another recorder began this run, and
// what its controller knew is lost.
func (n nodes) unloaded(answers []*chain.Status) (bool, error) {
	all := true
	for i, status := range answers {
		if n[i].validator.Role != topology.RoleProducer {
			continue
		}
		if status == nil || status.Load == nil {
			all = false
			continue
		}
		if status.Load.TransfersPerSecond > 0 || status.Load.Signed > 0 {
			return false, fmt.Errorf("validator %s signed transfers before this recorder began: "+
				"another one did, and ended, and what its controller knew is lost", n[i].validator.Name)
		}
	}
	return all, nil
}

// atRest says whether all producers answered that they sign nothing, and all nodes
// that answered have nothing in their pools.
func (n nodes) atRest(answers []*chain.Status) bool {
	for i, status := range answers {
		if status == nil || status.Load == nil {
			if n[i].validator.Role == topology.RoleProducer {
				return false
			}
			continue
		}
		if status.Load.TransfersPerSecond > 0 || status.Pool.Transactions > 0 {
			return false
		}
	}
	return true
}
