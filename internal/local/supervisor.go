// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/machinenodes"
	"github.com/shardyard/shardyard/internal/local/processes"
)

const (
	// readyPollInterval is how often a validator that starts is asked whether
	// it is ready.
	readyPollInterval = 200 * time.Millisecond

	// steadyPollInterval is how often one that is ready is asked whether it
	// still is.
	steadyPollInterval = time.Second

	// stopGrace is how long a validator may take to stop by itself.
	stopGrace = 10 * time.Second
)

// supervisor keeps one validator running.
type supervisor struct {
	node      machinenodes.Node
	shardnode string
	client    *chain.Client
	console   *console.Console
	// changed is called after every change of the state.
	changed func()

	mu    sync.Mutex
	state validatorState
	// process is nil between two processes, and affliction while there is no fault.
	process    *processes.Process
	affliction *affliction
	// spent is the CPU time of the processes that ended.
	spent time.Duration
	// running is the CPU time of the current process when it told it last.
	running time.Duration
}

// validatorState is what is known about the current process of a validator.
type validatorState struct {
	// starts counts the processes up to this one.
	starts int
	// pid is 0 between two processes.
	pid   int
	ready bool
	// byzantine says that it is another program, by a fault, whose word does not count.
	byzantine bool
	// wasReady says that the process has been ready at some time.
	wasReady bool
	// reason says why the validator is not ready.
	reason string
}

func newSupervisor(node machinenodes.Node, shardnode string, console *console.Console, changed func()) *supervisor {
	return &supervisor{
		node:      node,
		shardnode: shardnode,
		client: chain.NewClient(node.HTTP.Address(), chain.Admin{
			Address:   node.Admin.Address(),
			PublicKey: node.Secrets.Key.Public(),
			Token:     node.Secrets.AdminToken,
		}),
		console: console,
		changed: changed,
		state:   validatorState{reason: "has not been started"},
	}
}

func (s *supervisor) name() string {
	return s.node.Validator.Name
}

// current is the state of the validator.
func (s *supervisor) current() validatorState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *supervisor) update(change func(*validatorState)) {
	s.mu.Lock()
	change(&s.state)
	s.mu.Unlock()
	s.changed()
}

// run starts the validator, again whenever it ends, until the context is done
// and the validator has stopped. The error says why it is not started again.
func (s *supervisor) run(ctx context.Context) error {
	defer s.client.Close()
	var restarts restarts
	for {
		process, err := s.start()
		if err != nil {
			return fmt.Errorf("validator %s: %w", s.name(), err)
		}
		readyFor := s.watch(ctx, process)
		if ctx.Err() != nil {
			// One that a fault pauses hears nothing.
			s.lift()
			s.stop(process)
			return nil
		}
		s.ended(process)
		if kept, again := s.awaitStart(ctx); !again {
			s.lift()
			return nil
		} else if kept {
			continue
		}

		delay, again := restarts.next(process.ExitCode(), readyFor)
		if !again {
			return &ValidatorError{Name: s.name(), End: process.End(), Log: s.node.Dir.Log()}
		}
		s.console.Printf("validator %s ended (%s), starting it again in %s", s.name(), process.End(), delay)
		if !wait(ctx, delay) {
			return nil
		}
	}
}

// wait waits for some time; false if the context is done first.
func wait(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (s *supervisor) start() (*processes.Process, error) {
	for _, port := range []machinenodes.Port{s.node.P2P, s.node.HTTP, s.node.Admin} {
		if err := port.Release(); err != nil {
			return nil, err
		}
	}
	if begun := s.replaced(); begun != nil {
		process, err := s.startDouble(begun)
		if err == nil {
			return process, nil
		}
		s.console.Printf("nothing can take the place of validator %s: %v", s.name(), err)
		s.end(begun)
	}
	if err := s.node.Dir.RemoveDouble(); err != nil {
		return nil, err
	}
	process, err := processes.Start(s.shardnode, []string{"run", "--config", s.node.Dir.Config()}, s.node.Dir.Log())
	if err != nil {
		return nil, err
	}
	s.started(process, false)
	return process, nil
}

// started takes a process that has been started, of another program than the node or of
// the node.
func (s *supervisor) started(process *processes.Process, byzantine bool) {
	s.update(func(state *validatorState) {
		s.process = process
		*state = validatorState{starts: state.starts + 1, pid: process.PID(), byzantine: byzantine, reason: "does not answer"}
	})
}

// watch asks the validator again and again whether it is ready. It returns when
// the process has ended or the context is done: the time since the validator was
// first ready, nil if it never was.
func (s *supervisor) watch(ctx context.Context, process *processes.Process) *time.Duration {
	ticker := time.NewTicker(readyPollInterval)
	defer ticker.Stop()
	var readyAt *time.Time
	for {
		select {
		case <-process.Ended:
			return sinceIfAny(readyAt)
		case <-ctx.Done():
			return sinceIfAny(readyAt)
		case <-ticker.C:
		}
		reason := s.unready(ctx)
		if process.HasEnded() || ctx.Err() != nil {
			continue
		}
		s.observeReadiness(reason)
		interval := readyPollInterval
		if reason == "" {
			interval = steadyPollInterval
			if readyAt == nil {
				now := time.Now()
				readyAt = &now
			}
		}
		ticker.Reset(interval)
	}
}

func sinceIfAny(then *time.Time) *time.Duration {
	if then == nil {
		return nil
	}
	since := time.Since(*then)
	return &since
}

// unready asks the validator why it is not ready; nothing if it is.
func (s *supervisor) unready(ctx context.Context) string {
	readiness, err := s.client.Readiness(ctx)
	switch {
	case err != nil:
		return "does not answer"
	case readiness.Ready:
		return ""
	default:
		return strings.Join(readiness.Reasons, ", ")
	}
}

// observeReadiness takes why the current process is not ready, nothing if it is.
func (s *supervisor) observeReadiness(reason string) {
	before, ready := s.current(), reason == ""
	if before.ready == ready {
		s.mu.Lock()
		s.state.reason = reason
		s.mu.Unlock()
		return
	}
	s.update(func(state *validatorState) {
		state.ready, state.wasReady, state.reason = ready, true, reason
	})
	switch {
	case !ready:
		s.console.Printf("validator %s is not ready any more: %s", s.name(), reason)
	case before.wasReady || before.starts > 1:
		s.console.Printf("validator %s is ready again", s.name())
	}
}

func (s *supervisor) stop(process *processes.Process) {
	if !process.Stop(stopGrace) {
		s.console.Printf("validator %s did not stop within %s and was killed", s.name(), stopGrace)
	} else if code := process.ExitCode(); code != 0 && !s.current().byzantine {
		s.console.Printf("validator %s did not stop cleanly: %s", s.name(), process.End())
	}
	s.ended(process)
}

func (s *supervisor) ended(process *processes.Process) {
	s.update(func(state *validatorState) {
		s.process = nil
		state.pid, state.ready, state.wasReady, state.reason = 0, false, false, process.End()
		s.spent, s.running = s.spent+process.CPU(), 0
	})
}
