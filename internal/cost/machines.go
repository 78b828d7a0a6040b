// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// machines are what validators run on. Their number is only known where none
// shares one.
func machines(network *v1alpha1.ShardNetwork, plan *topology.Plan, prices *Prices) Part {
	placement := &network.Spec.Placement
	switch {
	case placement.Exclusivity == v1alpha1.Shared:
		return unknown(v1alpha1.CostPartMachines, "spec.placement.exclusivity is Shared, which leaves the number of machines open")
	case placement.MachineType == "":
		return unknown(v1alpha1.CostPartMachines, "spec.placement.machineType is not set")
	}
	if why := nowhere(network, plan, prices); why != "" {
		return unknown(v1alpha1.CostPartMachines, why)
	}
	perHour, count := 0.0, 0
	for _, region := range plan.Regions {
		price, ok := prices.MachineTypes[placement.MachineType][region.Name]
		if !ok {
			return unknown(v1alpha1.CostPartMachines, fmt.Sprintf("there is no price of %s in region %s", placement.MachineType, region.Name))
		}
		perHour += float64(region.Nodes) * price
		count += region.Nodes
	}
	return known(v1alpha1.CostPartMachines, perHour, fmt.Sprintf("%d of %s on demand", count, placement.MachineType))
}

// clusters are the control planes: a cluster of Google is in one region.
func clusters(network *v1alpha1.ShardNetwork, plan *topology.Plan, prices *Prices) Part {
	if why := nowhere(network, plan, prices); why != "" {
		return unknown(v1alpha1.CostPartClusters, why)
	}
	count := len(plan.Regions)
	return known(v1alpha1.CostPartClusters, float64(count)*prices.ClusterFeePerHour,
		fmt.Sprintf("%d of GKE, one in each region", count))
}
