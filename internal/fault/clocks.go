// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// clockOrders tell the validators in scope of the fault of their clocks, and nobody else.
func clockOrders(spec *v1alpha1.FaultSpec, scope []topology.Validator) []Order {
	orders := make([]Order, 0, len(scope))
	for i := range scope {
		orders = append(orders, Order{Node: scope[i].Name, Clock: &chain.ClockFault{
			OffsetMilliseconds: spec.WrongClock.OffsetMilliseconds, DurationMilliseconds: durationMs(spec),
		}})
	}
	return orders
}
