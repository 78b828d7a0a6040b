// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/faulting"
)

// tellTimeout bounds telling nodes of a fault that they keep, and telling them that it is
// over: a fault that not all of them take is both, and whoever asked for it hears of that
// within OrderTimeout.
const tellTimeout = (OrderTimeout - 2*time.Second) / 2

// nodeFaults is the fault of a network that its nodes keep: there is one at a time, as
// a node has one of its links at a time and is at the end of many.
type nodeFaults struct {
	mu      sync.Mutex
	current *nodeFault
}

// nodeFault is a fault that lasts and that nodes keep. Those that were told of it end
// it themselves.
type nodeFault struct {
	part       fault.Part
	validators []string
	told       []*Supervisor
	ends       time.Time
	expiry     *time.Timer
}

// String is what the fault is of.
func (f *nodeFault) String() string {
	return fmt.Sprintf("the %s of %s", f.part, strings.Join(f.validators, ", "))
}

// hits is one of these validators that the fault is of; empty if there is none.
func (l *nodeFaults) hits(validators []string) string {
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

// lasting is the fault that goes on; nil if there is none.
func (l *nodeFaults) lasting() *nodeFault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// forget forgets a fault that is over; false if it is forgotten already.
func (l *nodeFaults) forget(over *nodeFault) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != over {
		return false
	}
	l.current = nil
	over.expiry.Stop()
	return true
}

// impair has nodes keep a fault: all nodes of an order are told of it, or none. Striking
// is held.
func (g *Group) impair(given *Order, struck []*Supervisor) error {
	if len(given.Nodes) == 0 {
		return errors.New("a fault that nodes keep is of no node")
	}
	g.kept.mu.Lock()
	defer g.kept.mu.Unlock()
	if g.kept.current != nil {
		return fmt.Errorf("the network has a fault of %s already", g.kept.current)
	}
	for _, supervisor := range struck {
		if supervisor.isStruck() {
			return fmt.Errorf("validator %s has a fault already", supervisor.Name())
		}
	}
	names := make([]string, 0, len(given.Nodes))
	for i := range given.Nodes {
		names = append(names, given.Nodes[i].Node)
	}
	part := fault.PartOf(given.Action)
	told, err := g.named(names)
	if err != nil {
		return err
	}
	if err := beginFaults(given.Nodes, told); err != nil {
		// Those that were told, and those of which nobody knows.
		return errors.Join(err, endFaults(part, told))
	}
	begun := &nodeFault{part: part, validators: given.Validators, told: told, ends: time.Now().Add(given.duration())}
	begun.expiry = time.AfterFunc(given.duration(), func() {
		if g.kept.forget(begun) {
			g.Console.Printf("the fault of %s is over", begun)
		}
	})
	g.kept.current = begun
	g.Console.Printf("%s: a fault of %s begins", given.Action, begun)
	return nil
}

// repair ends the fault that nodes keep. It goes on where one of them cannot be told, until
// that ends it itself. Striking is held.
func (g *Group) repair() error {
	ended := g.kept.lasting()
	if ended == nil {
		return nil
	}
	if err := endFaults(ended.part, ended.told); err != nil && time.Now().Before(ended.ends) {
		return err
	}
	if g.kept.forget(ended) {
		g.Console.Printf("the fault of %s is over", ended)
	}
	return nil
}

// beginFaults tells nodes of faults: each of its own order.
func beginFaults(orders []fault.Order, told []*Supervisor) error {
	ctx, cancel := context.WithTimeout(context.Background(), tellTimeout)
	defer cancel()
	return faulting.BeginFaults(ctx, orders, clientsOf(told))
}

// endFaults has nodes end the faults of a part of theirs.
func endFaults(part fault.Part, told []*Supervisor) error {
	ctx, cancel := context.WithTimeout(context.Background(), tellTimeout)
	defer cancel()
	return faulting.Each(ctx, clientsOf(told), func(ctx context.Context, i int) error {
		if err := faulting.End(ctx, told[i].Client, part); err != nil {
			return fmt.Errorf("end the fault of the %s of validator %s: %w", part, told[i].Name(), err)
		}
		return nil
	})
}

// clientsOf are the clients of nodes.
func clientsOf(supervisors []*Supervisor) []*chain.Client {
	nodes := make([]*chain.Client, 0, len(supervisors))
	for _, supervisor := range supervisors {
		nodes = append(nodes, supervisor.Client)
	}
	return nodes
}
