// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/clients"
)

// readyTimeout is how long a loader may take to say whether it is ready.
const readyTimeout = 5 * time.Second

// Users are clients who send the load of a run. The producers sign nothing.
type Users struct {
	*clients.Clients

	// Ready says why no loader can run yet; nil if one can.
	Ready func(ctx context.Context) error
}

// crowd has the users of one run send.
type crowd struct {
	*Users

	// end ends the sending that is under way; nil before it began.
	end     context.CancelFunc
	sending sync.WaitGroup
	// unready is why they did not begin when they were to last.
	unready error
}

// newCrowd makes the crowd of a run; nil when producers sign the load.
func newCrowd(options *Options) *crowd {
	if options.Users == nil {
		return nil
	}
	return &crowd{Users: options.Users}
}

// free says whether users can begin: a loader is ready, all nodes answer, and no
// producer signs anything.
func (c *crowd) free(ctx context.Context, nodes nodes, answers []*chain.Status) bool {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := c.Ready(ctx); err != nil {
		c.unready = fmt.Errorf("the loader is not ready: %w", err)
		return false
	}
	for i, status := range answers {
		if status == nil {
			c.unready = fmt.Errorf("validator %s did not answer", nodes[i].validator.Name)
			return false
		}
	}
	if offered, _ := nodes.offered(answers); offered > 0 {
		c.unready = fmt.Errorf("the producers sign %d transfers per second", offered)
		return false
	}
	return true
}

// begin has the users send.
func (c *crowd) begin(ctx context.Context) {
	ctx, c.end = context.WithCancel(ctx)
	c.sending.Go(func() { c.Run(ctx) })
}

// stop has nobody send any more.
func (c *crowd) stop() {
	if c == nil || c.end == nil {
		return
	}
	c.end()
	c.sending.Wait()
}

// conclude puts what the users saw into the record.
func (c *crowd) conclude(recorded *result.Run) {
	if c == nil {
		return
	}
	c.stop()
	c.Conclude(recorded)
}

// complete says whether everything is there that it takes to hold what users saw
// against blocks, up to this height.
func (c *crowd) complete(height uint64) bool {
	if c == nil {
		return true
	}
	state := c.Current()
	return state.Over() && height >= state.LastHeight()
}

// ended is when users have sent, and waited for, all that there is, if that is later
// than another time; false when they have not.
func (c *crowd) ended(other time.Time) (time.Time, bool) {
	if c == nil {
		return other, true
	}
	state := c.Current()
	if state.OverAt.After(other) {
		return state.OverAt, true
	}
	return other, state.Over()
}

// attend has a sample say what users send. The measurement is of their last step.
func (s *session) attend(sample *record.Sample, answers []*chain.Status) {
	state := s.crowd.Current()
	sample.ByClients, sample.OfferedPerSecond = true, state.Offered(sample.At)
	if state.Last && !s.settled {
		s.settle(state.Began, state.Rate)
	}
	if offered, _ := s.nodes.offered(answers); offered > 0 {
		s.blame(fmt.Sprintf("the producers sign %d transfers per second, and the users alone should send any", offered))
	}
	if state.Fault != nil {
		s.blame(state.Fault.Error())
	}
}
