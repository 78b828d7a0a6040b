// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"sync"

	"github.com/shardyard/shardyard/internal/local/supervision"
)

// Company is runs that are made side by side, on processors that they share. They
// begin together, once the validators of all of them are ready and have signed what
// they sign before, and each has its network carry the load until all have measured:
// what disturbs one of them disturbs the others.
type Company struct {
	ready, measured gathering
}

// NewCompany is the company of so many runs.
func NewCompany(runs int) *Company {
	return &Company{ready: newGathering(runs), measured: newGathering(runs)}
}

// awaitReady waits for the others once a run's own validators are ready.
func (c *Company) awaitReady(ctx context.Context, failed <-chan error) error {
	if c == nil {
		return nil
	}
	c.ready.arrive()
	select {
	case <-c.ready.all:
		return nil
	case err := <-failed:
		return err
	case <-ctx.Done():
		return supervision.ErrInterrupted
	}
}

// leave says that a run has measured, once, and whether all have.
func (c *Company) leave(already bool) (all bool) {
	if c == nil {
		return true
	}
	if !already {
		c.measured.arrive()
	}
	return c.measured.complete()
}

// gathering is where runs wait for each other.
type gathering struct {
	mu   sync.Mutex
	left int
	// all is closed once everybody is there.
	all chan struct{}
}

func newGathering(runs int) gathering {
	return gathering{left: runs, all: make(chan struct{})}
}

// arrive is called once by each run.
func (g *gathering) arrive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left--
	if g.left == 0 {
		close(g.all)
	}
}

func (g *gathering) complete() bool {
	select {
	case <-g.all:
		return true
	default:
		return false
	}
}
