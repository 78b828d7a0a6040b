// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// machines are what validators run on. Their number is only known where none
// shares one.
func machines(network *v1alpha1.ShardNetwork, plan *topology.Plan, prices *Prices) Part {
	placement := &network.Spec.Placement
	if placement.Exclusivity == v1alpha1.Shared {
		return unknown(v1alpha1.CostPartMachines, "spec.placement.exclusivity is Shared, which leaves the number of machines open")
	}
	for _, region := range plan.Regions {
		if machineType, field := topology.MachineType(placement, region.Name); machineType == "" {
			return unknown(v1alpha1.CostPartMachines, field+" is not set")
		}
	}
	if why := nowhere(network, plan, prices); why != "" {
		return unknown(v1alpha1.CostPartMachines, why)
	}
	perHour, counts := 0.0, map[string]int{}
	for _, region := range plan.Regions {
		machineType, _ := topology.MachineType(placement, region.Name)
		price, ok := prices.MachineTypes[machineType][region.Name]
		if !ok {
			return unknown(v1alpha1.CostPartMachines, fmt.Sprintf("there is no price of %s in region %s", machineType, region.Name))
		}
		perHour += float64(region.Nodes) * price
		counts[machineType] += region.Nodes
	}
	var basis []string
	for _, machineType := range slices.Sorted(maps.Keys(counts)) {
		basis = append(basis, fmt.Sprintf("%d of %s on demand", counts[machineType], machineType))
	}
	return known(v1alpha1.CostPartMachines, perHour, strings.Join(basis, ", "))
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
