// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// loadTimeout is how long a validator may take to be told its share. One
	// that hangs must not hold up the next step of the others for long.
	loadTimeout = 2 * time.Second

	// loadRetryInterval is how long a validator that did not take its share is
	// left alone.
	loadRetryInterval = time.Second
)

// rates are the load of a network over time.
type rates interface {
	// Rate is that of the whole network, some time after the load began.
	Rate(elapsed time.Duration) int64
	// Next is when it changes by itself; false when it does not.
	Next(elapsed time.Duration) (time.Duration, bool)
}

// loadDriver lets the producers of a group sign the load of a network. Each
// is told its share once: when the rate changes, and when it is ready
// after a restart, because it then signs nothing.
type loadDriver struct {
	group    *group
	console  *console
	rates    rates
	workload chain.Workload
	// steered tells that the rate has changed that a controller asks for.
	steered <-chan struct{}
	// applied is what each validator signs; chunk validators, whose share is
	// always 0, are told nothing.
	applied []appliedLoad
}

// appliedLoad is the rate that a process of a validator was told. The zero
// value is right for a process that was told nothing.
type appliedLoad struct {
	starts int
	rate   int64
	// failing says that the last attempt failed, and was reported.
	failing bool
}

func newLoadDriver(group *group, load *load) *loadDriver {
	driver := &loadDriver{
		group:    group,
		console:  group.console,
		rates:    load.schedule,
		workload: load.workload,
		applied:  make([]appliedLoad, len(group.supervisors)),
	}
	if load.loop != nil {
		driver.rates, driver.steered = load.loop, load.loop.changed
	}
	return driver
}

// run applies the rates from a time on, until the context is done.
func (d *loadDriver) run(ctx context.Context, begin time.Time) {
	announced := int64(0)
	for ctx.Err() == nil {
		elapsed := time.Since(begin)
		rate := d.rates.Rate(elapsed)
		if rate != announced && d.steered == nil {
			d.console.printf("load: %s", plural(rate, "transfer")+" per second")
			announced = rate
		}
		complete := d.apply(ctx, rate)
		d.await(ctx, begin, elapsed, complete)
	}
}

// await waits until there is something to apply: the next step, another rate of a
// controller, to a validator that became ready, or once more where it failed.
func (d *loadDriver) await(ctx context.Context, begin time.Time, elapsed time.Duration, complete bool) {
	var step, retry <-chan time.Time
	if next, ok := d.rates.Next(elapsed); ok {
		timer := time.NewTimer(time.Until(begin.Add(next)))
		defer timer.Stop()
		step = timer.C
	}
	if !complete {
		timer := time.NewTimer(loadRetryInterval)
		defer timer.Stop()
		retry = timer.C
	}
	select {
	case <-ctx.Done():
	case <-step:
	case <-retry:
	case <-d.group.changed:
	case <-d.steered:
	}
}

// apply tells all validators that are ready their shares of a rate. It says
// whether all of them took it.
func (d *loadDriver) apply(ctx context.Context, rate int64) bool {
	var told sync.WaitGroup
	for i, share := range bench.Split(rate, d.group.validators()) {
		told.Go(func() { d.applyTo(ctx, i, share) })
	}
	told.Wait()
	for i := range d.applied {
		if d.applied[i].failing {
			return false
		}
	}
	return true
}

// applyTo tells one validator its share unless it signs it already.
func (d *loadDriver) applyTo(ctx context.Context, index int, share int64) {
	supervisor, applied := d.group.supervisors[index], &d.applied[index]
	state := supervisor.current()
	if state.starts != applied.starts {
		*applied = appliedLoad{starts: state.starts}
	}
	if !state.wasReady {
		// It is told when it is ready; until then it signs nothing.
		applied.failing = false
		return
	}
	if share == applied.rate && !applied.failing {
		return
	}
	err := d.setLoad(ctx, supervisor, share)
	if err == nil {
		applied.rate, applied.failing = share, false
		return
	}
	if !applied.failing && ctx.Err() == nil {
		d.console.printf("validator %s does not take its load: %v", supervisor.name(), err)
	}
	applied.failing = true
}

func (d *loadDriver) setLoad(ctx context.Context, supervisor *supervisor, share int64) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	answer, err := supervisor.client.SetLoad(ctx, share, d.workload)
	if err != nil {
		return err
	}
	if answer.TransfersPerSecond != share {
		return fmt.Errorf("told to sign %d transfers per second, it answers %d", share, answer.TransfersPerSecond)
	}
	if !answer.Workload.Same(d.workload) {
		return fmt.Errorf("told to sign the workload %+v, it answers %+v", d.workload, answer.Workload)
	}
	return nil
}
