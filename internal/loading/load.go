// SPDX-License-Identifier: Apache-2.0

package loading

import (
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

// Load is what a network carries.
type Load struct {
	// Workload is which transfers are signed.
	Workload chain.Workload
	// Schedule is the load over time, unless there is a loop.
	Schedule bench.Schedule
	// Loop finds the rate; nil when the schedule says it.
	Loop *Loop
	// Users are the clients that send it; nil when producers sign it. With users,
	// these sign nothing.
	Users *v1alpha1.OpenLoopLoad
}

// New makes the load of a spec; without one, there is none.
func New(spec *v1alpha1.LoadSpec) (*Load, error) {
	made := &Load{Workload: bench.Workload(spec)}
	switch {
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

// Found is what a search came to; nil of another load.
func (l *Load) Found() *result.Search {
	if l.Loop == nil || l.Loop.search == nil {
		return nil
	}
	return l.Loop.search.Result()
}

// Rate is what the producers of the whole network sign, some time after the load
// began.
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
