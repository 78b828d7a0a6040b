// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/machinenodes"
)

// group keeps all validators of a network running.
type group struct {
	supervisors []*supervisor
	processes   *processesFile
	console     *console.Console

	// striking keeps faults from beginning and ending at the same time.
	striking sync.Mutex
	kept     nodeFaults
	lending  lending

	// changed tells that a validator started, became ready or ended.
	changed chan struct{}
	// failed has the errors of validators that are not started again.
	failed chan error

	cancel  context.CancelFunc
	running sync.WaitGroup
}

// newGroup makes a group that does not run yet.
func newGroup(network *network, nodes []machinenodes.Node, shardnode string, console *console.Console) *group {
	group := &group{
		processes: newProcessesFile(network),
		console:   console,
		changed:   make(chan struct{}, 1),
		failed:    make(chan error, len(nodes)),
	}
	for _, node := range nodes {
		group.supervisors = append(group.supervisors, newSupervisor(node, shardnode, console, group.stateChanged))
	}
	return group
}

// start starts all validators. They run until the group is stopped.
func (g *group) start() {
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	for _, supervisor := range g.supervisors {
		g.running.Go(func() {
			if err := supervisor.run(ctx); err != nil {
				g.failed <- err
			}
		})
	}
}

// stop stops all validators and returns when no process is left.
func (g *group) stop() error {
	g.cancel()
	g.running.Wait()
	return g.processes.remove()
}

// stateChanged keeps the file of processes as things are, and tells whoever
// waits for a change.
func (g *group) stateChanged() {
	if err := g.processes.write(g.supervisors); err != nil {
		g.console.Printf("%v", err)
	}
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// ready counts the validators that are ready.
func (g *group) ready() int {
	ready := 0
	for _, supervisor := range g.supervisors {
		if state := supervisor.current(); state.ready {
			ready++
		}
	}
	return ready
}

// awaitReady waits until all validators are ready.
func (g *group) awaitReady(ctx context.Context, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	shown := 0
	for {
		ready := g.ready()
		if ready > shown {
			g.console.Printf("%d of %s ready", ready, console.Plural(len(g.supervisors), "validator"))
			shown = ready
		}
		if ready == len(g.supervisors) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errInterrupted
		case err := <-g.failed:
			return err
		case <-timer.C:
			return g.notReady()
		case <-g.changed:
		}
	}
}

// notReady describes the first validator that is not ready.
func (g *group) notReady() error {
	for _, supervisor := range g.supervisors {
		if state := supervisor.current(); !state.ready {
			return &NotReadyError{
				Ready:  g.ready(),
				Wanted: len(g.supervisors),
				Name:   supervisor.name(),
				Reason: state.reason,
				Log:    supervisor.node.Dir.Log(),
			}
		}
	}
	return errors.New("all validators became ready, but too late")
}
