// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/supervision"
)

const (
	// sampleInterval is how often the validators are asked while the network
	// runs.
	sampleInterval = time.Second

	// blockPollInterval is how often they are asked when something depends on
	// the next block. It is much shorter than blocks usually take.
	blockPollInterval = 50 * time.Millisecond
)

// run is a network from the time that all validators are ready.
type run struct {
	group   *supervision.Group
	console *console.Console
	load    *loading.Driver
	audit   *bench.Audit
	window  bench.Window
	// base is the chain as it was before the load.
	base *chain.Status
	// last is the chain as it was seen last, and furthest what was told of its highest
	// block: a node that began anew knows of none until it processes one.
	last     bench.Sample
	furthest *chain.Status
	// reached is what was told of the highest block when the run was measured: the chain
	// goes on while its validators are compared.
	reached *chain.Status
	// violation is the first contradiction or loss that the audit found.
	violation error
	// recording is nil when nothing is recorded.
	recording *recording
}

// beginRun begins a run with the first block that is finalised once all
// validators are ready: on a chain that is resumed, blocks of before may be
// finalised first.
func beginRun(ctx context.Context, group *supervision.Group, load *loading.Load, timeout time.Duration) (*run, error) {
	ready := time.Now()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	ticker := time.NewTicker(blockPollInterval)
	defer ticker.Stop()
	for {
		first := supervision.SampleAll(ctx, group.Supervisors)
		if base := first.Best(); base != nil && base.FinalizedTimeMs >= ready.UnixMilli() {
			run := newRun(group, load, base)
			run.observe(first)
			return run, nil
		}
		select {
		case <-ctx.Done():
			return nil, supervision.ErrInterrupted
		case err := <-group.Failed():
			return nil, err
		case <-timer.C:
			return nil, fmt.Errorf("all validators are ready, but no block was finalised within %s", timeout)
		case <-ticker.C:
		}
	}
}

func newRun(group *supervision.Group, load *loading.Load, base *chain.Status) *run {
	return &run{
		group:   group,
		console: group.Console,
		load:    newLoadDriver(group, load, false),
		audit:   bench.NewAudit(),
		window:  bench.Window{Begin: time.Now(), Settled: load.Schedule.Settled()},
		base:    base,
	}
}

// carry lets the network carry its load until the context is done, or all of a
// recording is there. It returns early when a validator cannot be kept running, or the audit found something.
func (r *run) carry(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var driver sync.WaitGroup
	driver.Go(func() { r.drive(ctx, r.load.Load) })
	if r.recording != nil && r.recording.clients != nil {
		driver.Go(func() { r.recording.clients.Run(ctx) })
	}
	defer driver.Wait()
	defer cancel()

	live := live{missedBefore: r.base.MissedChunks, recent: []bench.Sample{r.last}}
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for r.violation == nil {
		select {
		case <-ctx.Done():
			return nil
		case err := <-r.group.Failed():
			return err
		case <-ticker.C:
		}
		sample := supervision.SampleAll(ctx, r.group.Supervisors)
		if ctx.Err() != nil {
			// The sample was cut short.
			return nil
		}
		r.observe(sample)
		if r.recording != nil {
			if err := r.take(ctx, sample); err != nil && r.violation == nil {
				r.violation = err
			}
		}
		r.console.Show(live.line(sample, r.group.Ready()))
		if r.recording != nil && r.recording.over(time.Since(r.window.Begin)) {
			return nil
		}
	}
	return nil
}

// observe takes a sample of the run.
func (r *run) observe(sample bench.Sample) {
	r.last = sample
	if best := sample.Best(); best != nil && (r.furthest == nil || best.FinalizedHeight >= r.furthest.FinalizedHeight) {
		r.furthest = best
	}
	r.window.Observe(sample)
	for _, status := range sample.Answers() {
		if err := r.audit.Observe(status); err != nil && r.violation == nil {
			r.violation = err
		}
	}
}
