// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"math"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// disks are those of spec.volume. Only of a disk whose performance the network
// states it is known what is paid for.
func disks(network *v1alpha1.ShardNetwork, plan *topology.Plan, prices *Prices) Part {
	volume := network.Spec.Volume
	switch {
	case volume == nil:
		return known(v1alpha1.CostPartDisks, 0, "no spec.volume")
	case volume.StorageClassName != "":
		return unknown(v1alpha1.CostPartDisks, "there is no price of the storage class "+volume.StorageClassName)
	case !resources.HasStorageClass(network):
		return unknown(v1alpha1.CostPartDisks, "there is no price of the cluster's default storage class")
	case volume.IOPS == 0:
		return unknown(v1alpha1.CostPartDisks, "spec.volume.iops is not set, and the provider chooses what is paid for")
	case volume.ThroughputMebibytesPerSecond == 0:
		return unknown(v1alpha1.CostPartDisks,
			"spec.volume.throughputMebibytesPerSecond is not set, and the provider chooses what is paid for")
	}
	if why := nowhere(network, plan, prices); why != "" {
		return unknown(v1alpha1.CostPartDisks, why)
	}

	size := math.Ceil(float64(volume.Size.Value()) / (1 << 30))
	iops, throughput := float64(volume.IOPS), float64(volume.ThroughputMebibytesPerSecond)
	perMonth, count := 0.0, 0
	for _, region := range plan.Regions {
		price, ok := prices.Disks[resources.DiskType][region.Name]
		if !ok {
			return unknown(v1alpha1.CostPartDisks, fmt.Sprintf("there is no price of %s in region %s", resources.DiskType, region.Name))
		}
		disk := size*price.GiB + max(0, iops-price.IOPSIncluded)*price.IOPS + max(0, throughput-price.MiBpsIncluded)*price.MiBps
		perMonth += float64(region.Nodes) * disk
		count += region.Nodes
	}
	return known(v1alpha1.CostPartDisks, perMonth/prices.HoursPerMonth, fmt.Sprintf(
		"%d of %s: %.0f GiB, %.0f IOPS, %.0f MiB/s", count, resources.DiskType, size, iops, throughput))
}
