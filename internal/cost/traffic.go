// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// traffic is what validators send to other regions. Of how much they send, all
// that is known is one run at full load; less load is taken for as much less
// traffic, and more for no more, because the chain does not execute it. Every
// validator is taken to send as much to each of the others.
func traffic(network *v1alpha1.ShardNetwork, plan *topology.Plan, prices *Prices) Part {
	if why := nowhere(network, plan, prices); why != "" {
		return unknown(v1alpha1.CostPartTraffic, why)
	}
	if len(plan.Regions) == 1 {
		return known(v1alpha1.CostPartTraffic, 0, "all validators are in one region")
	}
	validators, senders := len(plan.Nodes), 0.0
	for _, region := range plan.Regions {
		senders += float64(region.Nodes) * float64(validators-region.Nodes) / float64(validators-1)
	}

	assumed := prices.Egress.Assumed
	rate, load := assumed.MiBpsPerNode, "full load, as there is no spec.load that says less"
	if highest, ok := highestRate(network.Spec.Load); ok {
		load = "full load"
		if perNode := float64(highest) / float64(validators); perNode < assumed.TransfersPerSecondPerNode {
			rate *= perNode / assumed.TransfersPerSecondPerNode
			load = fmt.Sprintf("%d transfers per second", highest)
		}
	}
	const secondsPerHour, mibPerGiB = 3600, 1024
	perHour := senders * rate * secondsPerHour / mibPerGiB * prices.Egress.InterRegionPerGiB
	return known(v1alpha1.CostPartTraffic, perHour, fmt.Sprintf(
		"assumed: each validator sends %.1f MiB/s at %s, %.0f%% of it to other regions",
		rate, load, 100*senders/float64(validators)))
}

// highestRate is that of the network's own load. Whatever else a load can be runs beside
// a Benchmark, and no network has it.
func highestRate(load *v1alpha1.LoadSpec) (int64, bool) {
	switch {
	case load == nil:
		return 0, false
	case load.Constant != nil:
		return ptr.Deref(load.Constant.TransfersPerSecond, 0), true
	case load.Ramp == nil:
		return 0, false
	}
	var highest int64
	for _, step := range load.Ramp.Steps {
		highest = max(highest, ptr.Deref(step.TransfersPerSecond, 0))
	}
	return highest, true
}
