// SPDX-License-Identifier: Apache-2.0

package supervision

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

	// StopGrace is how long a process may take to stop by itself.
	StopGrace = 10 * time.Second
)

// Supervisor keeps one validator running.
type Supervisor struct {
	// Node is the validator, and Client asks it.
	Node      machinenodes.Node
	Client    *chain.Client
	shardnode string
	console   *console.Console
	// changed is called after every change of the state.
	changed func()

	mu    sync.Mutex
	state State
	// process is nil between two processes, and affliction while there is no fault.
	process    *processes.Process
	affliction *affliction
	// spent is the CPU time of the processes that ended.
	spent time.Duration
	// running is the CPU time of the current process when it told it last.
	running time.Duration
}

// State is what is known about the current process of a validator.
type State struct {
	// Starts counts the processes up to this one.
	Starts int
	// PID is 0 between two processes.
	PID   int
	Ready bool
	// Byzantine says that it is another program, by a fault, whose word does not count.
	Byzantine bool
	// WasReady says that the process has been ready at some time.
	WasReady bool
	// Reason says why the validator is not ready.
	Reason string
}

func newSupervisor(node machinenodes.Node, shardnode string, console *console.Console, changed func()) *Supervisor {
	return &Supervisor{
		Node:      node,
		shardnode: shardnode,
		Client: chain.NewClient(node.HTTP.Address(), chain.Admin{
			Address:   node.Admin.Address(),
			PublicKey: node.Secrets.Key.Public(),
			Token:     node.Secrets.AdminToken,
		}),
		console: console,
		changed: changed,
		state:   State{Reason: "has not been started"},
	}
}

// Name is the name of the validator.
func (s *Supervisor) Name() string {
	return s.Node.Validator.Name
}

// Current is the state of the validator.
func (s *Supervisor) Current() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *Supervisor) update(change func(*State)) {
	s.mu.Lock()
	change(&s.state)
	s.mu.Unlock()
	s.changed()
}

// run starts the validator, again whenever it ends, until the context is done
// and the validator has stopped. The error says why it is not started again.
func (s *Supervisor) run(ctx context.Context) error {
	defer s.Client.Close()
	var restarts restarts
	for {
		process, err := s.start()
		if err != nil {
			return fmt.Errorf("validator %s: %w", s.Name(), err)
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
			return &ValidatorError{Name: s.Name(), End: process.End(), Log: s.Node.Dir.Log()}
		}
		s.console.Printf("validator %s ended (%s), starting it again in %s", s.Name(), process.End(), delay)
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

func (s *Supervisor) start() (*processes.Process, error) {
	for _, port := range []machinenodes.Port{s.Node.P2P, s.Node.HTTP, s.Node.Admin} {
		if err := port.Release(); err != nil {
			return nil, err
		}
	}
	if begun := s.replaced(); begun != nil {
		process, err := s.startDouble(begun)
		if err == nil {
			return process, nil
		}
		s.console.Printf("nothing can take the place of validator %s: %v", s.Name(), err)
		s.end(begun)
	}
	if err := s.Node.Dir.RemoveDouble(); err != nil {
		return nil, err
	}
	process, err := processes.Start(s.shardnode, []string{"run", "--config", s.Node.Dir.Config()}, s.Node.Dir.Log())
	if err != nil {
		return nil, err
	}
	s.started(process, false)
	return process, nil
}

// started takes a process that has been started, of another program than the node or of
// the node.
func (s *Supervisor) started(process *processes.Process, byzantine bool) {
	s.update(func(state *State) {
		s.process = process
		*state = State{Starts: state.Starts + 1, PID: process.PID(), Byzantine: byzantine, Reason: "does not answer"}
	})
}

// watch asks the validator again and again whether it is ready. It returns when
// the process has ended or the context is done: the time since the validator was
// first ready, nil if it never was.
func (s *Supervisor) watch(ctx context.Context, process *processes.Process) *time.Duration {
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
func (s *Supervisor) unready(ctx context.Context) string {
	readiness, err := s.Client.Readiness(ctx)
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
func (s *Supervisor) observeReadiness(reason string) {
	before, ready := s.Current(), reason == ""
	if before.Ready == ready {
		s.mu.Lock()
		s.state.Reason = reason
		s.mu.Unlock()
		return
	}
	s.update(func(state *State) {
		state.Ready, state.WasReady, state.Reason = ready, true, reason
	})
	switch {
	case !ready:
		s.console.Printf("validator %s is not ready any more: %s", s.Name(), reason)
	case before.WasReady || before.Starts > 1:
		s.console.Printf("validator %s is ready again", s.Name())
	}
}

func (s *Supervisor) stop(process *processes.Process) {
	if !process.Stop(StopGrace) {
		s.console.Printf("validator %s did not stop within %s and was killed", s.Name(), StopGrace)
	} else if code := process.ExitCode(); code != 0 && !s.Current().Byzantine {
		s.console.Printf("validator %s did not stop cleanly: %s", s.Name(), process.End())
	}
	s.ended(process)
}

func (s *Supervisor) ended(process *processes.Process) {
	s.update(func(state *State) {
		s.process = nil
		state.PID, state.Ready, state.WasReady, state.Reason = 0, false, false, process.End()
		s.spent, s.running = s.spent+process.CPU(), 0
	})
}
