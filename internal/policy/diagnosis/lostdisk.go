// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"cmp"
	"fmt"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

// lostDisk is a node whose disk is gone.
func lostDisk(network *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	disk := node.LostDisk
	if disk == nil {
		return nil
	}
	next := cmp.Or(disk.Next, "for it to come back on a new one, "+NewDiskAdvice(network, node))
	return &Diagnosis{v1alpha1.ReasonVolumeLost, fmt.Sprintf("the disk of %s is gone: %s; %s", node.Validator.Name, disk.Why, next)}
}
