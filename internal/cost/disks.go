// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// disks are those of spec.volume. Only of a disk whose performance the network
// states it is known what is paid for.
func disks(network *v1alpha1.ShardNetwork, plan *topology.Plan, prices *Prices) Part {
	if network.Spec.Volume == nil {
		return known(v1alpha1.CostPartDisks, 0, "no spec.volume")
	}
	perMonth, basis := 0.0, []string(nil)
	for _, group := range diskGroups(network, plan) {
		if why := unpriced(group.disk); why != "" {
			return unknown(v1alpha1.CostPartDisks, why)
		}
		if why := nowhere(network, plan, prices); why != "" {
			return unknown(v1alpha1.CostPartDisks, why)
		}
		volume := group.disk.Volume
		size := math.Ceil(float64(volume.Size.Value()) / (1 << 30))
		iops, throughput := float64(volume.IOPS), float64(volume.ThroughputMebibytesPerSecond)
		for _, region := range plan.Regions {
			price, ok := prices.Disks[resources.DiskType][region.Name]
			if !ok {
				return unknown(v1alpha1.CostPartDisks, fmt.Sprintf("there is no price of %s in region %s", resources.DiskType, region.Name))
			}
			disk := size*price.GiB + max(0, iops-price.IOPSIncluded)*price.IOPS + max(0, throughput-price.MiBpsIncluded)*price.MiBps
			perMonth += float64(group.in[region.Name]) * disk
		}
		basis = append(basis, fmt.Sprintf(
			"%d of %s: %.0f GiB, %.0f IOPS, %.0f MiB/s", group.count, resources.DiskType, size, iops, throughput))
	}
	return known(v1alpha1.CostPartDisks, perMonth/prices.HoursPerMonth, strings.Join(basis, "; "))
}

// diskGroup are disks of one kind.
type diskGroup struct {
	disk  *resources.Disk
	count int
	// in counts them by region.
	in map[string]int
}

// diskGroups are the disks of a plan, by the field that says what they are.
func diskGroups(network *v1alpha1.ShardNetwork, plan *topology.Plan) []*diskGroup {
	var groups []*diskGroup
	for _, node := range plan.Nodes {
		disk := resources.DiskOf(network, node.Role)
		at := slices.IndexFunc(groups, func(group *diskGroup) bool { return group.disk.Field == disk.Field })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &diskGroup{disk: disk, in: map[string]int{}})
		}
		groups[at].count++
		groups[at].in[node.Region]++
	}
	return groups
}

// unpriced says why it is not known what is paid for a disk; empty when it is.
func unpriced(disk *resources.Disk) string {
	switch {
	case disk.Volume.StorageClassName != "":
		return "there is no price of the storage class " + disk.Volume.StorageClassName
	case !disk.HasPerformance():
		return "there is no price of the cluster's default storage class"
	case disk.Volume.IOPS == 0:
		return disk.Field + ".iops is not set, and the provider chooses what is paid for"
	case disk.Volume.ThroughputMebibytesPerSecond == 0:
		return disk.Field + ".throughputMebibytesPerSecond is not set, and the provider chooses what is paid for"
	default:
		return ""
	}
}
