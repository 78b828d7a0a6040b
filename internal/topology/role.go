// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Role is what a node does for the network, as the node contract names it.
type Role string

const (
	// RoleProducer tracks one shard, produces its chunks and votes in consensus.
	RoleProducer Role = "producer"
	// RoleChunkValidator tracks no shard and does not vote: it endorses the
	// chunks that it is dealt.
	RoleChunkValidator Role = "chunkValidator"
	// RoleRPC follows the chain and serves clients: it is none of the validators
	// of the genesis document.
	RoleRPC Role = "rpc"
	// RoleArchive follows the chain and keeps the states of all shards: it is none of
	// the validators either.
	RoleArchive Role = "archive"
)

// Roles are all of them.
var Roles = []Role{RoleProducer, RoleChunkValidator, RoleRPC, RoleArchive}

// specified are the roles as specs name them.
var specified = map[Role]v1alpha1.NodeRole{
	RoleProducer:       v1alpha1.NodeRoleProducer,
	RoleChunkValidator: v1alpha1.NodeRoleChunkValidator,
	RoleRPC:            v1alpha1.NodeRoleRPC,
	RoleArchive:        v1alpha1.NodeRoleArchive,
}

// Validates says whether the nodes of a role are validators, which genesis names.
func (r Role) Validates() bool { return r == RoleProducer || r == RoleChunkValidator }

// Resources are those of the nodes of a role, and the field that says so; nil when
// there are none, and then the field that would.
func (r Role) Resources(node *v1alpha1.NodeSpec) (resources *v1alpha1.NodeResources, field string) {
	for i := range node.Roles {
		if role := &node.Roles[i]; role.Role == specified[r] {
			return role.Resources, fmt.Sprintf("spec.node.roles[%d].resources", i)
		}
	}
	return node.Resources, "spec.node.resources"
}

// Volume is the disk of the nodes of a role, and the field that says so; nil when the
// network has none.
func (r Role) Volume(all *v1alpha1.VolumeSpec) (volume *v1alpha1.VolumeSpec, field string) {
	if all == nil {
		return nil, "spec.volume"
	}
	for i := range all.Roles {
		if own := &all.Roles[i]; own.Role == specified[r] {
			return &v1alpha1.VolumeSpec{
				Size:                         own.Size,
				StorageClassName:             own.StorageClassName,
				IOPS:                         own.IOPS,
				ThroughputMebibytesPerSecond: own.ThroughputMebibytesPerSecond,
				Retention:                    all.Retention,
			}, fmt.Sprintf("spec.volume.roles[%d]", i)
		}
	}
	return all, "spec.volume"
}
