// SPDX-License-Identifier: Apache-2.0

package nodeconfig

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// WorkerThreads is the number of worker threads that fits a node's CPU
// resources: one per core of its limit, or else of its request, begun cores
// counted whole. Without either it is 0, which leaves it to the node.
func WorkerThreads(resources *v1alpha1.NodeResources) int32 {
	if resources == nil {
		return 0
	}
	for _, amounts := range []*v1alpha1.ResourceAmounts{resources.Limits, resources.Requests} {
		if amounts != nil && amounts.CPU != nil {
			return int32(amounts.CPU.ScaledValue(resource.Scale(0)))
		}
	}
	return 0
}
