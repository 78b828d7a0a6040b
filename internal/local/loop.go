// SPDX-License-Identifier: Apache-2.0

package local

import (
	"sync/atomic"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/control"
	"github.com/shardyard/shardyard/internal/chain"
)

// load is what a network carries.
type load struct {
	workload chain.Workload
	// schedule is the load over time, unless there is a loop.
	schedule bench.Schedule
	loop     *loop
}

// newLoad makes the load of a spec.
func newLoad(spec *v1alpha1.LoadSpec) (*load, error) {
	made := &load{workload: bench.Workload(spec)}
	if spec != nil && spec.ClosedLoop != nil {
		made.loop = newLoop(spec.ClosedLoop)
		return made, nil
	}
	var err error
	made.schedule, err = bench.NewSchedule(spec)
	return made, err
}

// loop is a load whose rate a controller finds.
type loop struct {
	controller *control.Controller
	// mostSettling is how long the rate may take to become steady.
	mostSettling time.Duration
	rate         atomic.Int64
	// changed tells that the rate is another one.
	changed chan struct{}
}

func newLoop(spec *v1alpha1.ClosedLoopLoad) *loop {
	made := &loop{
		controller:   control.New(spec),
		mostSettling: time.Duration(spec.MaxSettleSeconds) * time.Second,
		changed:      make(chan struct{}, 1),
	}
	made.rate.Store(spec.InitialTransfersPerSecond)
	return made
}

// Rate is what the controller asks for now.
func (l *loop) Rate(time.Duration) int64 { return l.rate.Load() }

// Next is never: the rate changes with what is observed.
func (l *loop) Next(time.Duration) (time.Duration, bool) { return 0, false }

// observe has the controller see a sample; nil when no node answered.
func (l *loop) observe(sample bench.Sample, at time.Time) *control.Decision {
	observation, ok := control.Observe(sample, at)
	if !ok {
		return nil
	}
	decision := l.controller.Step(observation)
	if l.rate.Swap(decision.TransfersPerSecond) != decision.TransfersPerSecond {
		select {
		case l.changed <- struct{}{}:
		default:
			// The driver has not taken up the last change, and will see this one.
		}
	}
	return &decision
}
