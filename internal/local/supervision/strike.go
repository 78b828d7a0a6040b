// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"errors"
	"fmt"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fault"
)

// OrderTimeout is how long whoever gives an order waits until it is followed.
const OrderTimeout = 10 * time.Second

// Order is what is asked of the keeper of a network.
type Order struct {
	Validators []string `json:"validators"`
	// The others are only of a strike.
	Action               v1alpha1.FaultAction  `json:"action,omitempty"`
	Restart              v1alpha1.FaultRestart `json:"restart,omitempty"`
	Program              *fault.Program        `json:"program,omitempty"`
	DurationMilliseconds int64                 `json:"durationMilliseconds,omitempty"`
	// Nodes are what nodes are told of a fault that they keep.
	Nodes []fault.Order `json:"nodes,omitempty"`
}

func (o *Order) duration() time.Duration {
	return time.Duration(o.DurationMilliseconds) * time.Millisecond
}

// Strike has a fault happen to all validators of an order, or to none.
func (g *Group) Strike(given *Order) error {
	if given.DurationMilliseconds <= 0 {
		return errors.New("the duration of a fault must be positive")
	}
	ordered, err := g.named(given.Validators)
	if err != nil {
		return err
	}
	g.striking.Lock()
	defer g.striking.Unlock()
	if name := g.kept.hits(given.Validators); name != "" {
		return fmt.Errorf("validator %s has a fault already", name)
	}
	if fault.IsKeptByNodes(given.Action) {
		return g.impair(given, ordered)
	}
	for i, supervisor := range ordered {
		if err := supervisor.strike(given); err != nil {
			for _, struck := range ordered[:i] {
				struck.lift()
			}
			return err
		}
	}
	return nil
}

// Lift ends the faults of all validators of an order.
func (g *Group) Lift(given *Order) error {
	ordered, err := g.named(given.Validators)
	if err != nil {
		return err
	}
	g.striking.Lock()
	defer g.striking.Unlock()
	// A validator has one fault at a time.
	if g.kept.hits(given.Validators) != "" {
		return g.repair()
	}
	for _, supervisor := range ordered {
		supervisor.lift()
	}
	return nil
}

// named are the validators that have these names.
func (g *Group) named(names []string) ([]*Supervisor, error) {
	byName := make(map[string]*Supervisor, len(g.Supervisors))
	for _, supervisor := range g.Supervisors {
		byName[supervisor.Name()] = supervisor
	}
	ordered := make([]*Supervisor, 0, len(names))
	for _, name := range names {
		supervisor, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("there is no validator %s", name)
		}
		ordered = append(ordered, supervisor)
	}
	return ordered, nil
}
