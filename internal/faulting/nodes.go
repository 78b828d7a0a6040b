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

// tellTimeout bounds telling nodes of a fault that they keep.
const tellTimeout = 5 * time.Second

// Nodes is an Actor of faults that nodes keep themselves: it tells nodes of them, over
// their admin API. They end the fault themselves should nobody do.
type Nodes struct {
	// Client is that of a node.
	Client func(node string) *chain.Client

	part fault.Part
	told []*chain.Client
	ends time.Time
}

// errNobody says that no node is told of a fault that nodes keep.
var errNobody = errors.New("a fault that nodes keep is of no node")

// Strike tells all nodes of the orders of their fault.
func (n *Nodes) Strike(ctx context.Context, _ []string, spec *v1alpha1.FaultSpec, orders []fault.Order) error {
	if len(orders) == 0 {
		return errNobody
	}
	n.part = orders[0].Part()
	for i := range orders {
		n.told = append(n.told, n.Client(orders[i].Node))
	}
	err := BeginFaults(ctx, orders, n.told)
	n.ends = time.Now().Add(time.Duration(spec.DurationSeconds) * time.Second)
	return err
}

// Lift has all nodes that were told end the fault. Those that cannot be reached have
// ended it by themselves once its duration is over.
func (n *Nodes) Lift(ctx context.Context, _ []string) error {
	told := n.told
	n.told = nil
	err := EndFaults(ctx, n.part, told)
	for _, node := range told {
		node.Close()
	}
	if err != nil && time.Now().After(n.ends) {
		return nil
	}
	return err
}

// BeginFaults tells nodes of faults: each of its own order.
func BeginFaults(ctx context.Context, orders []fault.Order, nodes []*chain.Client) error {
	return Each(ctx, nodes, func(ctx context.Context, i int) error {
		if err := begin(ctx, nodes[i], &orders[i]); err != nil {
			return fmt.Errorf("tell validator %s of a fault of its %s: %w", orders[i].Node, orders[i].Part(), err)
		}
		return nil
	})
}

// EndFaults has nodes end the faults of a part of theirs.
func EndFaults(ctx context.Context, part fault.Part, nodes []*chain.Client) error {
	return Each(ctx, nodes, func(ctx context.Context, i int) error {
		if err := End(ctx, nodes[i], part); err != nil {
			return fmt.Errorf("end the fault of the %s of a validator: %w", part, err)
		}
		return nil
	})
}

// begin tells a node of the fault of an order.
func begin(ctx context.Context, node *chain.Client, order *fault.Order) error {
	switch order.Part() {
	case fault.Disk:
		return node.BeginDiskFault(ctx, order.Disk)
	case fault.Clock:
		return node.BeginClockFault(ctx, order.Clock)
	case fault.Process:
		return node.BeginProcessFault(ctx, order.Process)
	default:
		return node.BeginLinkFault(ctx, order.Links)
	}
}

// End tells a node that the fault of a part of it is over. One of its process ends by
// itself alone: until then, nobody is there to be told.
func End(ctx context.Context, node *chain.Client, part fault.Part) error {
	switch part {
	case fault.Disk:
		return node.EndDiskFault(ctx)
	case fault.Clock:
		return node.EndClockFault(ctx)
	case fault.Process:
		return nil
	default:
		return node.EndLinkFault(ctx)
	}
}

// Each does something with all of some nodes at once, within tellTimeout or what is left of
// a shorter time.
func Each(ctx context.Context, nodes []*chain.Client, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithTimeout(ctx, tellTimeout)
	defer cancel()
	failures := make([]error, len(nodes))
	var doing sync.WaitGroup
	for i := range nodes {
		doing.Go(func() { failures[i] = do(ctx, i) })
	}
	doing.Wait()
	return errors.Join(failures...)
}
