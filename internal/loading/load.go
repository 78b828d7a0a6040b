// SPDX-License-Identifier: Apache-2.0

package loading

import (
	"fmt"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// Load is what a network carries.
type Load struct {
	// Workload is which transfers are signed.
	Workload chain.Workload
	// Schedule is the load over time, unless there is a loop.
	Schedule bench.Schedule
	// Count is how many transfers it has, without a rate; 0 of a load that has no end.
	Count int64
	// Loop finds the rate; nil when the schedule says it.
	Loop *Loop
	// Users are the clients that send it; nil when producers sign it. With users,
	// these sign nothing.
	Users *v1alpha1.OpenLoopLoad
	// Signing is when producers sign it.
	Signing chain.Signing

	// until is how long after its beginning the producers have what they sign before.
	until time.Duration
}

// New makes the load of a spec; without one, there is none.
func New(spec *v1alpha1.LoadSpec) (*Load, error) {
	made := &Load{Workload: bench.Workload(spec)}
	if spec != nil && spec.Signing == v1alpha1.SigningBefore {
		made.Signing = chain.SigningBefore
	}
	switch {
	case spec != nil && spec.FixedCount != nil:
		made.Count = spec.FixedCount.Transfers
		return made, nil
	case spec != nil && spec.ClosedLoop != nil:
		made.Loop = NewLoop(spec.ClosedLoop)
		return made, nil
	case spec != nil && spec.Search != nil:
		made.Loop = newSearch(spec.Search)
		return made, nil
	case spec != nil && spec.OpenLoop != nil:
		made.Users = spec.OpenLoop
		return made, nil
	}
	var err error
	made.Schedule, err = bench.NewSchedule(spec)
	return made, err
}

// NewRun makes the load of a spec for a run that is measured once it is settled.
func NewRun(spec *v1alpha1.LoadSpec, warmUp, duration time.Duration) (*Load, error) {
	made, err := New(spec)
	if err != nil {
		return nil, err
	}
	made.until = made.Schedule.Lasts(warmUp, duration)
	return made, nil
}

// Conclude says in the record of a run what is known of its load besides.
func (l *Load) Conclude(run *result.Run, validators []topology.Validator) {
	run.Search = l.Found()
	if l.Signing != chain.SigningBefore {
		return
	}
	for _, transfers := range l.stock(validators) {
		run.SignedBefore += transfers
	}
	run.Notes = append(run.Notes, fmt.Sprintf(
		"%d transfers were signed before the load began: what is measured of the nodes is without signing", run.SignedBefore))
}

// stock is how many transfers each of the validators signs before.
func (l *Load) stock(validators []topology.Validator) []int64 {
	if l.Count > 0 {
		return bench.Split(l.Count, validators)
	}
	return l.Schedule.Stock(l.until, validators)
}

// Found is what a search came to; nil of another load.
func (l *Load) Found() *result.Search {
	if l.Loop == nil || l.Loop.search == nil {
		return nil
	}
	return l.Loop.search.Result()
}

// shares are what each of the validators is told to sign of a rate. Of a fixed count,
// those that have some of it are told to give it to their pools as fast as these have
// room for it: by the rate, alerts tell it from a load that is more than a chain takes.
func (l *Load) shares(rate int64, validators []topology.Validator) []int64 {
	if l.Count == 0 {
		return bench.Split(rate, validators)
	}
	shares := l.stock(validators)
	for i := range shares {
		shares[i] = min(shares[i], 1) * bench.MaxProducerRate
	}
	return shares
}

// Rate is what the producers of the whole network sign, some time after the load
// began; 0 of a fixed count.
func (l *Load) Rate(elapsed time.Duration) int64 {
	if l.Loop != nil {
		return l.Loop.Rate()
	}
	return l.Schedule.Rate(elapsed)
}

// next is when the rate changes by itself; false when it does not.
func (l *Load) next(elapsed time.Duration) (time.Duration, bool) {
	if l.Loop != nil {
		return 0, false
	}
	return l.Schedule.Next(elapsed)
}

// steered tells that a controller asks for another rate; nil without one.
func (l *Load) steered() <-chan struct{} {
	if l.Loop == nil {
		return nil
	}
	return l.Loop.changed
}
