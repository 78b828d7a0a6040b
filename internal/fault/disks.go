// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// diskOrders tell the validators in scope of the fault of their disks, and nobody else.
func diskOrders(spec *v1alpha1.FaultSpec, scope []topology.Validator) []Order {
	orders := make([]Order, 0, len(scope))
	for i := range scope {
		fault := &chain.DiskFault{Condition: chain.DiskFull, DurationMilliseconds: durationMs(spec)}
		if spec.Action == v1alpha1.FaultActionSlowDisk {
			fault.Condition, fault.DelayMilliseconds = chain.DiskSlow, spec.SlowDisk.Milliseconds
		}
		orders = append(orders, Order{Node: scope[i].Name, Disk: fault})
	}
	return orders
}
