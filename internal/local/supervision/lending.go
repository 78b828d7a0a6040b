// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"errors"
	"fmt"
	"sync"
)

// Lending says whether somebody else tells the validators their load.
type Lending struct {
	mu       sync.Mutex
	borrowed bool
	// changed is closed when that is no longer so; nil before anybody asked.
	changed chan struct{}
	// driving is held while the validators are told their own load.
	driving sync.Mutex
}

// Drive tells the validators their own load, by drive, which ends when lent is closed. If
// somebody else tells them theirs it does nothing, and returns what is closed when that ends.
func (l *Lending) Drive(drive func(lent <-chan struct{})) (returned <-chan struct{}) {
	l.driving.Lock()
	defer l.driving.Unlock()
	borrowed, changed := l.state()
	if borrowed {
		return changed
	}
	drive(changed)
	return nil
}

// AwaitDriver waits until nobody tells the validators their own load.
func (l *Lending) AwaitDriver() {
	l.driving.Lock()
	defer l.driving.Unlock()
}

// state says whether somebody else tells the validators their load, and what is closed
// when that changes.
func (l *Lending) state() (borrowed bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.borrowed, l.changed
}

// set takes note of who tells the validators their load; false when it is so already.
func (l *Lending) set(borrowed bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.borrowed == borrowed {
		return false
	}
	l.borrowed = borrowed
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	return true
}

// Lend lends the validators. The error is why they cannot be measured.
func (g *Group) Lend() error {
	g.striking.Lock()
	defer g.striking.Unlock()
	for _, supervisor := range g.Supervisors {
		if supervisor.isStruck() || g.kept.hits([]string{supervisor.Name()}) != "" {
			return fmt.Errorf("validator %s has a fault", supervisor.Name())
		}
		if state := supervisor.Current(); !state.Ready {
			return fmt.Errorf("validator %s is not ready", supervisor.Name())
		}
	}
	if !g.Lending.set(true) {
		return errors.New("it carries the load of another benchmark")
	}
	return nil
}

// TakeBack ends that the validators are lent.
func (g *Group) TakeBack() { g.Lending.set(false) }
