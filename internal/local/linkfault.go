// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// linkTimeout bounds telling nodes of a fault of their links, so that whoever asked
// for it hears of it within controlTimeout.
const linkTimeout = controlTimeout - time.Second

// linkFaults is the fault of links of a network: there is one at a time, as a node
// has one at a time and is at the end of many links.
type linkFaults struct {
	mu      sync.Mutex
	current *linkFault
}

// linkFault is a fault of links that lasts. The nodes that were told of it end it
// themselves.
type linkFault struct {
	validators []string
	told       []*supervisor
	ends       time.Time
	expiry     *time.Timer
}

// hits is one of these validators that a fault of links is of; empty if there is
// none.
func (l *linkFaults) hits(validators []string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil {
		for _, name := range validators {
			if slices.Contains(l.current.validators, name) {
				return name
			}
		}
	}
	return ""
}

// take takes a fault away, whichever goes on if it is nil; nil if it is over.
func (l *linkFaults) take(wanted *linkFault) *linkFault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil || wanted != nil && l.current != wanted {
		return nil
	}
	taken := l.current
	l.current = nil
	taken.expiry.Stop()
	return taken
}

// impair has the links of validators have a fault: all nodes of an order are told of
// it, or none. Striking is held.
func (g *group) impair(given *order, struck []*supervisor) error {
	if len(given.Links) == 0 {
		return errors.New("a fault of links is of no links")
	}
	g.links.mu.Lock()
	defer g.links.mu.Unlock()
	if g.links.current != nil {
		return fmt.Errorf("the network has a fault of links already, of %s", strings.Join(g.links.current.validators, ", "))
	}
	for _, supervisor := range struck {
		if supervisor.isStruck() {
			return fmt.Errorf("validator %s has a fault already", supervisor.name())
		}
	}
	names := make([]string, 0, len(given.Links))
	for i := range given.Links {
		names = append(names, given.Links[i].Node)
	}
	told, err := g.named(names)
	if err != nil {
		return err
	}
	err = each(told, func(ctx context.Context, i int) error {
		if err := told[i].client.BeginLinkFault(ctx, &given.Links[i].Fault); err != nil {
			return fmt.Errorf("tell validator %s of a fault of its links: %w", told[i].name(), err)
		}
		return nil
	})
	if err != nil {
		// Those that were told, and those of which nobody knows.
		return errors.Join(err, endLinkFaults(told))
	}
	begun := &linkFault{validators: given.Validators, told: told, ends: time.Now().Add(given.duration())}
	begun.expiry = time.AfterFunc(given.duration(), func() {
		if g.links.take(begun) != nil {
			g.console.printf("the fault of the links of %s is over", strings.Join(begun.validators, ", "))
		}
	})
	g.links.current = begun
	g.console.printf("the links of %s have a fault: %s", strings.Join(begun.validators, ", "), given.Action)
	return nil
}

// repair ends the fault of links that goes on. Striking is held.
func (g *group) repair() error {
	ended := g.links.take(nil)
	if ended == nil {
		return nil
	}
	err := endLinkFaults(ended.told)
	if err != nil && time.Now().After(ended.ends) {
		// It is over for those that were not reached as well.
		err = nil
	}
	if err == nil {
		g.console.printf("the fault of the links of %s is over", strings.Join(ended.validators, ", "))
	}
	return err
}

// endLinkFaults has nodes end the faults of their links.
func endLinkFaults(told []*supervisor) error {
	return each(told, func(ctx context.Context, i int) error {
		if err := told[i].client.EndLinkFault(ctx); err != nil {
			return fmt.Errorf("end the fault of the links of validator %s: %w", told[i].name(), err)
		}
		return nil
	})
}

// each does something with all of some validators at once, within linkTimeout.
func each(validators []*supervisor, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), linkTimeout)
	defer cancel()
	failures := make([]error, len(validators))
	var doing sync.WaitGroup
	for i := range validators {
		doing.Go(func() { failures[i] = do(ctx, i) })
	}
	doing.Wait()
	return errors.Join(failures...)
}
