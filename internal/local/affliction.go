// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// affliction is a fault that lasts. It is the keeper of a process that takes it
// back, so that it ends even if whoever asked for it is no more.
type affliction struct {
	// paused is the process that goes on afterwards; nil when none is started until
	// then.
	paused *process
	// over is closed when it is over.
	over chan struct{}
	// expiry ends it.
	expiry *time.Timer
}

// strike has a fault happen to the validator, for some time.
func (s *supervisor) strike(ordered *order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.process == nil:
		return fmt.Errorf("validator %s does not run", s.name())
	case s.affliction != nil:
		return fmt.Errorf("validator %s has a fault already", s.name())
	}
	begun := &affliction{over: make(chan struct{})}
	switch ordered.Action {
	case v1alpha1.FaultActionPause:
		if err := s.process.signal(syscall.SIGSTOP); err != nil {
			return fmt.Errorf("pause validator %s: %w", s.name(), err)
		}
		begun.paused = s.process
		s.console.printf("validator %s is paused by a fault", s.name())
	case v1alpha1.FaultActionKill:
		if err := s.process.signal(syscall.SIGKILL); err != nil {
			return fmt.Errorf("kill validator %s: %w", s.name(), err)
		}
		s.console.printf("validator %s is killed by a fault", s.name())
		if ordered.Restart == v1alpha1.FaultRestartAtOnce {
			return nil
		}
	default:
		return fmt.Errorf("unknown action %q", ordered.Action)
	}
	s.affliction = begun
	begun.expiry = time.AfterFunc(ordered.duration(), func() { s.end(begun) })
	return nil
}

// isStruck says whether the validator has a fault that lasts.
func (s *supervisor) isStruck() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.affliction != nil
}

// lift ends the fault of the validator, if it has one.
func (s *supervisor) lift() {
	s.mu.Lock()
	begun := s.affliction
	s.mu.Unlock()
	if begun != nil {
		s.end(begun)
	}
}

// end ends a fault, unless it is over.
func (s *supervisor) end(begun *affliction) {
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
		_ = begun.paused.signal(syscall.SIGCONT)
	}
	s.console.printf("the fault of validator %s is over", s.name())
}

// awaitStart waits until a fault that keeps the validator from being started is over;
// false if the context is done first. Kept says that there was one.
func (s *supervisor) awaitStart(ctx context.Context) (kept, again bool) {
	s.mu.Lock()
	begun := s.affliction
	s.mu.Unlock()
	if begun == nil || begun.paused != nil {
		return false, true
	}
	select {
	case <-ctx.Done():
		return true, false
	case <-begun.over:
		return true, true
	}
}
