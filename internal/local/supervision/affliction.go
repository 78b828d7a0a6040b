// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/local/processes"
)

// affliction is a fault that lasts. It is the keeper of a process that takes it
// back, so that it ends even if whoever asked for it is no more.
type affliction struct {
	// paused is the process that goes on afterwards; nil when it was killed.
	paused *processes.Process
	// double takes the place of what was killed; nil when nothing is started until the
	// fault is over.
	double *double
	// over is closed when it is over.
	over chan struct{}
	// expiry ends it.
	expiry *time.Timer
}

// strike has a fault happen to the validator, for some time.
func (s *Supervisor) strike(ordered *Order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.process == nil:
		return fmt.Errorf("validator %s does not run", s.Name())
	case s.affliction != nil:
		return fmt.Errorf("validator %s has a fault already", s.Name())
	}
	begun := &affliction{over: make(chan struct{})}
	switch ordered.Action {
	case v1alpha1.FaultActionPause:
		if err := s.process.Signal(syscall.SIGSTOP); err != nil {
			return fmt.Errorf("pause validator %s: %w", s.Name(), err)
		}
		begun.paused = s.process
		s.console.Printf("validator %s is paused by a fault", s.Name())
	case v1alpha1.FaultActionKill:
		if err := s.process.Signal(syscall.SIGKILL); err != nil {
			return fmt.Errorf("kill validator %s: %w", s.Name(), err)
		}
		s.console.Printf("validator %s is killed by a fault", s.Name())
		if ordered.Restart == v1alpha1.FaultRestartAtOnce {
			return nil
		}
	case v1alpha1.FaultActionByzantine:
		if ordered.Program == nil {
			return errors.New("a byzantine fault has no program")
		}
		if err := s.process.Signal(syscall.SIGKILL); err != nil {
			return fmt.Errorf("kill validator %s: %w", s.Name(), err)
		}
		begun.double = &double{Program: *ordered.Program}
		s.console.Printf("%s takes the place of validator %s by a fault", ordered.Program.Path, s.Name())
	default:
		return fmt.Errorf("unknown action %q", ordered.Action)
	}
	s.affliction = begun
	begun.expiry = time.AfterFunc(ordered.duration(), func() { s.end(begun) })
	return nil
}

// isStruck says whether the validator has a fault that lasts.
func (s *Supervisor) isStruck() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.affliction != nil
}

// lift ends the fault of the validator, if it has one.
func (s *Supervisor) lift() {
	s.mu.Lock()
	begun := s.affliction
	s.mu.Unlock()
	if begun != nil {
		s.end(begun)
	}
}

// end ends a fault, unless it is over.
func (s *Supervisor) end(begun *affliction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.affliction != begun {
		return
	}
	s.affliction = nil
	begun.expiry.Stop()
	close(begun.over)
	if begun.paused != nil {
		// One that ended meanwhile cannot go on, and another one is started.
		_ = begun.paused.Signal(syscall.SIGCONT)
	}
	if s.state.Byzantine && s.process != nil {
		// It may have its own mind about other signals.
		_ = s.process.Signal(syscall.SIGKILL)
	}
	s.console.Printf("the fault of validator %s is over", s.Name())
}

// awaitStart waits until a fault that keeps the validator from being started is over;
// false if the context is done first. Kept says that the last end was of a fault: it
// counts for nothing.
func (s *Supervisor) awaitStart(ctx context.Context) (kept, again bool) {
	s.mu.Lock()
	begun, wasDouble := s.affliction, s.state.Byzantine
	s.mu.Unlock()
	switch {
	case begun == nil:
		return wasDouble, true
	case begun.paused != nil:
		return false, true
	case begun.double != nil && !wasDouble:
		return true, true
	}
	// What takes the place of a validator may end by itself, again and again.
	var next <-chan time.Time
	if begun.double != nil {
		timer := time.NewTimer(firstRestartDelay)
		defer timer.Stop()
		next = timer.C
	}
	select {
	case <-ctx.Done():
		return true, false
	case <-begun.over:
	case <-next:
	}
	return true, true
}

// replaced is the fault that has another program take the validator's place; nil if
// there is none.
func (s *Supervisor) replaced() *affliction {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.affliction == nil || s.affliction.double == nil {
		return nil
	}
	return s.affliction
}

// startDouble starts what takes the validator's place.
func (s *Supervisor) startDouble(begun *affliction) (*processes.Process, error) {
	if err := begun.double.prepare(s.Node.Dir); err != nil {
		return nil, err
	}
	program, arguments := begun.double.command(s.Node.Dir)
	process, err := processes.Start(program, arguments, s.Node.Dir.Log())
	if err != nil {
		return nil, err
	}
	s.started(process, true)
	if s.replaced() != begun {
		// The fault was over before there was a process to end.
		_ = process.Signal(syscall.SIGKILL)
	}
	return process, nil
}
