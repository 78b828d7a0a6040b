// SPDX-License-Identifier: Apache-2.0

package loading

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/control"
)

// controller finds a rate by what it observes.
type controller interface {
	Step(observation control.Observation) control.Decision
}

// Loop is a load whose rate a controller finds.
type Loop struct {
	// MostSettling is how long the rate may take to become steady.
	MostSettling time.Duration

	observer   control.Observer
	controller controller
	// search is the controller, if that is a search.
	search *control.Search
	rate   atomic.Int64
	// changed tells that the rate is another one.
	changed chan struct{}
}

// NewLoop makes a loop whose controller has seen nothing yet.
func NewLoop(spec *v1alpha1.ClosedLoopLoad) *Loop {
	made := &Loop{
		MostSettling: time.Duration(spec.MaxSettleSeconds) * time.Second,
		controller:   control.New(spec),
		changed:      make(chan struct{}, 1),
	}
	made.rate.Store(spec.InitialTransfersPerSecond)
	return made
}

func newSearch(spec *v1alpha1.SearchLoad) *Loop {
	search := control.NewSearch(spec)
	made := &Loop{
		MostSettling: time.Duration(spec.MaxSearchSeconds) * time.Second,
		controller:   search,
		search:       search,
		changed:      make(chan struct{}, 1),
	}
	made.rate.Store(spec.InitialTransfersPerSecond)
	return made
}

// Rate is what the controller asks for now.
func (l *Loop) Rate() int64 { return l.rate.Load() }

// Observe has the controller see a sample; nil when no node answered.
func (l *Loop) Observe(sample bench.Sample, at time.Time) *control.Decision {
	observation, ok := l.observer.Observe(sample, at)
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

// Unsettled says why a run has no measurement whose rate never became steady, or did while
// a validator refused its share of it: the last refusal, nil if all took theirs.
func (l *Loop) Unsettled(refusal *Refusal) string {
	if refusal != nil {
		return fmt.Sprintf("no rate was steady within %s that all validators took: validator %s does not take its load: %v",
			l.MostSettling, refusal.Validator, refusal.Err)
	}
	if l.search != nil {
		return fmt.Sprintf("the search found no rate that holds within %s", l.MostSettling)
	}
	return fmt.Sprintf("the controller found no steady rate within %s", l.MostSettling)
}
