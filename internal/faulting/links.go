// SPDX-License-Identifier: Apache-2.0

package faulting

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
)

// linkTimeout bounds telling nodes of a fault of their links.
const linkTimeout = 5 * time.Second

// Links is an Actor of faults of links: it tells nodes of them, over their admin API.
// They end the fault themselves should nobody do.
type Links struct {
	// Client is that of a node.
	Client func(node string) *chain.Client

	told []*chain.Client
	ends time.Time
}

// Strike tells all nodes of the orders of their fault.
func (l *Links) Strike(ctx context.Context, _ []string, spec *v1alpha1.FaultSpec, orders []fault.LinkOrder) error {
	if len(orders) == 0 {
		return errors.New("a fault of links is of no links")
	}
	for i := range orders {
		l.told = append(l.told, l.Client(orders[i].Node))
	}
	err := each(ctx, l.told, func(ctx context.Context, i int) error {
		if err := l.told[i].BeginLinkFault(ctx, &orders[i].Fault); err != nil {
			return fmt.Errorf("tell validator %s of a fault of its links: %w", orders[i].Node, err)
		}
		return nil
	})
	l.ends = time.Now().Add(time.Duration(spec.DurationSeconds) * time.Second)
	return err
}

// Lift has all nodes that were told end the fault. Those that cannot be reached have
// ended it by themselves once its duration is over.
func (l *Links) Lift(ctx context.Context, _ []string) error {
	told := l.told
	l.told = nil
	err := EndLinkFaults(ctx, told)
	for _, node := range told {
		node.Close()
	}
	if err != nil && time.Now().After(l.ends) {
		return nil
	}
	return err
}

// EndLinkFaults has nodes end the faults of their links.
func EndLinkFaults(ctx context.Context, nodes []*chain.Client) error {
	return each(ctx, nodes, func(ctx context.Context, i int) error {
		if err := nodes[i].EndLinkFault(ctx); err != nil {
			return fmt.Errorf("end the fault of the links of a validator: %w", err)
		}
		return nil
	})
}

// each does something with all of some nodes at once, within linkTimeout.
func each(ctx context.Context, nodes []*chain.Client, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	failures := make([]error, len(nodes))
	var doing sync.WaitGroup
	for i := range nodes {
		doing.Go(func() { failures[i] = do(ctx, i) })
	}
	doing.Wait()
	return errors.Join(failures...)
}
