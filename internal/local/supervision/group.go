// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/machinenodes"
)

// Group keeps all validators of a network running.
type Group struct {
	// Supervisors are those of its validators, in the order of the plan.
	Supervisors []*Supervisor
	// Lending says who tells the validators their load.
	Lending Lending
	// Console is where it says what happens.
	Console   *console.Console
	processes *ProcessesFile

	// striking keeps faults from beginning and ending at the same time.
	striking sync.Mutex
	kept     nodeFaults

	// changed tells that a validator started, became ready or ended.
	changed chan struct{}
	// failed has the errors of validators that are not started again.
	failed chan error

	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New makes a group that does not run yet, and that says in a file which processes do.
func New(processes *ProcessesFile, nodes []machinenodes.Node, shardnode string, console *console.Console) *Group {
	group := &Group{
		processes: processes,
		Console:   console,
		changed:   make(chan struct{}, 1),
		failed:    make(chan error, len(nodes)),
	}
	for _, node := range nodes {
		group.Supervisors = append(group.Supervisors, newSupervisor(node, shardnode, console, group.stateChanged))
	}
	return group
}

// Start starts all validators. They run until the group is stopped.
func (g *Group) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	for _, supervisor := range g.Supervisors {
		g.running.Go(func() {
			if err := supervisor.run(ctx); err != nil {
				g.failed <- err
			}
		})
	}
}

// Stop stops all validators and returns when no process is left.
func (g *Group) Stop() error {
	g.cancel()
	g.running.Wait()
	return g.processes.remove()
}

// Changed tells that a validator started, became ready or ended since it was told last.
func (g *Group) Changed() <-chan struct{} { return g.changed }

// Failed has the errors of validators that are not started again.
func (g *Group) Failed() <-chan error { return g.failed }

// stateChanged keeps the file of processes as things are, and tells whoever
// waits for a change.
func (g *Group) stateChanged() {
	if err := g.processes.write(g.Supervisors); err != nil {
		g.Console.Printf("%v", err)
	}
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// Ready counts the validators that are ready.
func (g *Group) Ready() int {
	ready := 0
	for _, supervisor := range g.Supervisors {
		if state := supervisor.Current(); state.Ready {
			ready++
		}
	}
	return ready
}

// AwaitReady waits until all validators are ready.
func (g *Group) AwaitReady(ctx context.Context, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	shown := 0
	for {
		ready := g.Ready()
		if ready > shown {
			g.Console.Printf("%d of %s ready", ready, console.Plural(len(g.Supervisors), "validator"))
			shown = ready
		}
		if ready == len(g.Supervisors) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ErrInterrupted
		case err := <-g.failed:
			return err
		case <-timer.C:
			return g.notReady()
		case <-g.changed:
		}
	}
}

// notReady describes the first validator that is not ready.
func (g *Group) notReady() error {
	for _, supervisor := range g.Supervisors {
		if state := supervisor.Current(); !state.Ready {
			return &NotReadyError{
				Ready:  g.Ready(),
				Wanted: len(g.Supervisors),
				Name:   supervisor.Name(),
				Reason: state.Reason,
				Log:    supervisor.Node.Dir.Log(),
			}
		}
	}
	return errors.New("all validators became ready, but too late")
}
