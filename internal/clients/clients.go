// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/openloop"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// A loader starts and derives the accounts of the network before it begins, in so
	// long and this many in a second at worst. One that is not ready by then says so.
	loaderLead        = 10 * time.Second
	accountsPerSecond = 10_000

	// mostDraining is how long a loader may take at the end in all.
	mostDraining = 3 * time.Minute
)

// Options say who sends what.
type Options struct {
	Load     *v1alpha1.OpenLoopLoad
	Workload chain.Workload
	// WarmUp and Duration are those of each step.
	WarmUp, Duration time.Duration
	// Nodes are the addresses of the HTTP APIs that users talk to.
	Nodes []string
	// Accounts are those of the network.
	Accounts int64
	// Lead is how long before its first transfer a loader is started, besides what it
	// takes for accounts; ten seconds if it is not given.
	Lead time.Duration
	// Launch runs the loader of a step, by its number from 0, to its end, and returns
	// what it says. No loader is left when it returns.
	Launch func(ctx context.Context, number int, step *Step) ([]byte, error)
	// Say is told how far the steps are.
	Say func(words string)
}

// Clients are the users of a run. Nil are those of a run that has none.
type Clients struct {
	Options

	mu    sync.Mutex
	state State
}

// New makes clients who have sent nothing.
func New(options Options) *Clients { return &Clients{Options: options} }

// Current is how far the steps are.
func (c *Clients) Current() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *Clients) update(change func(*State)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.state)
}

// lead is how long before its first transfer a loader is started.
func (c *Clients) lead() time.Duration {
	return cmp.Or(c.Lead, loaderLead) + time.Duration(c.Accounts/accountsPerSecond)*time.Second
}

// length is how long transfers of a step are due.
func (c *Clients) length() time.Duration { return c.WarmUp + c.Duration }

// Longest is how long all steps may take, of which each takes so long to be given up.
func (c *Clients) Longest(grace time.Duration) time.Duration {
	return time.Duration(len(c.Load.Steps)) * (c.lead() + c.length() + mostDraining + grace)
}

// Run runs one step after the other, until the last has ended, one fails, or the
// context is done. No loader is left when it returns.
func (c *Clients) Run(ctx context.Context) {
	for number := range c.Load.Steps {
		err := c.step(ctx, number)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			c.update(func(state *State) {
				state.Fault = fmt.Errorf("the loader of %d users: %w", c.Load.Steps[number].Users, err)
			})
			return
		}
	}
	c.update(func(state *State) { state.OverAt = time.Now() })
}

// errLoaderLate says that a loader was given up.
var errLoaderLate = errors.New("did not end within " + mostDraining.String() + " of its last transfer, and was stopped")

// step runs the loader of one step to its end.
func (c *Clients) step(ctx context.Context, number int) error {
	users, every := c.Load.Steps[number].Users, c.Load.EveryMilliseconds
	// A loader is told milliseconds.
	began := time.UnixMilli(time.Now().Add(c.lead()).UnixMilli())
	c.update(func(state *State) {
		state.Rate, state.Began, state.ended = float64(users)*1000/float64(every), began, began.Add(c.length())
		state.Last = number == len(c.Load.Steps)-1
	})
	c.Say(fmt.Sprintf("step %d of %d, %d users who each send a transfer in %s", number+1, len(c.Load.Steps),
		users, time.Duration(every)*time.Millisecond))

	launched, cancel := context.WithDeadlineCause(ctx, began.Add(c.length()+mostDraining), errLoaderLate)
	defer cancel()
	content, err := c.Launch(launched, number, &Step{
		Users: users, EveryMilliseconds: every, DurationSeconds: int32(c.length() / time.Second),
		StartAtMs: began.UnixMilli(), Nodes: c.Nodes, Workload: c.Workload,
	})
	if err != nil {
		if errors.Is(context.Cause(launched), errLoaderLate) {
			return errLoaderLate
		}
		return err
	}
	document, err := openloop.Decode(content)
	if err != nil {
		return err
	}
	made, err := openloop.Step(openloop.Plan{Users: users, WarmUp: c.WarmUp, Duration: c.Duration}, document)
	if err != nil {
		return err
	}
	c.update(func(state *State) {
		state.steps, state.documents = append(state.steps, made), append(state.documents, document)
	})
	c.Say(openloop.Describe(&made))
	return nil
}

// Conclude puts what the users saw into the record of a run.
func (c *Clients) Conclude(recorded *result.Run) {
	if c == nil {
		return
	}
	state := c.Current()
	made := &result.OpenLoop{EveryMilliseconds: c.Load.EveryMilliseconds, Nodes: len(c.Nodes), Steps: state.steps}
	err := openloop.Conclude(recorded, made, state.documents)
	if err != nil && recorded.Fault == "" {
		recorded.Fault = err.Error()
	}
}
