// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

func TestResourcesOfRoles(t *testing.T) {
	t.Parallel()
	all, few := &v1alpha1.NodeResources{}, &v1alpha1.NodeResources{Limits: &v1alpha1.ResourceAmounts{}}
	roles := []v1alpha1.NodeRoleSpec{{Role: v1alpha1.NodeRoleChunkValidator, Resources: few}}
	ofRPC := []v1alpha1.NodeRoleSpec{{Role: v1alpha1.NodeRoleRPC, Resources: few}}
	for name, test := range map[string]struct {
		node  v1alpha1.NodeSpec
		role  topology.Role
		want  *v1alpha1.NodeResources
		field string
	}{
		"nothing": {v1alpha1.NodeSpec{}, topology.RoleProducer, nil, "spec.node.resources"},
		"of all":  {v1alpha1.NodeSpec{Resources: all}, topology.RoleChunkValidator, all, "spec.node.resources"},
		"of the role": {
			v1alpha1.NodeSpec{Resources: all, Roles: roles}, topology.RoleChunkValidator, few, "spec.node.roles[0].resources",
		},
		"of rpc nodes": {
			v1alpha1.NodeSpec{Resources: all, Roles: ofRPC}, topology.RoleRPC, few, "spec.node.roles[0].resources",
		},
		"of another role":       {v1alpha1.NodeSpec{Resources: all, Roles: roles}, topology.RoleProducer, all, "spec.node.resources"},
		"of another role alone": {v1alpha1.NodeSpec{Roles: roles}, topology.RoleProducer, nil, "spec.node.resources"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, field := test.role.Resources(&test.node); got != test.want || field != test.field {
				t.Errorf("the resources are %+v by %s, want %+v by %s", got, field, test.want, test.field)
			}
		})
	}
}

func TestVolumesOfRoles(t *testing.T) {
	t.Parallel()
	volume := &v1alpha1.VolumeSpec{
		Size: resource.MustParse("10Gi"), IOPS: 3000, ThroughputMebibytesPerSecond: 140, Retention: v1alpha1.VolumeRetentionRetain,
		Roles: []v1alpha1.RoleVolume{{Role: v1alpha1.NodeRoleRPC, Size: resource.MustParse("1Gi"), StorageClassName: "slow"}},
	}
	// Of what all have, only what becomes of the disks is of the role's as well.
	own := v1alpha1.VolumeSpec{Size: resource.MustParse("1Gi"), StorageClassName: "slow", Retention: v1alpha1.VolumeRetentionRetain}
	if got, field := topology.RoleRPC.Volume(volume); !reflect.DeepEqual(*got, own) || field != "spec.volume.roles[0]" {
		t.Errorf("the disk of rpc nodes is %+v by %s, want %+v", got, field, own)
	}
	for _, role := range []topology.Role{topology.RoleProducer, topology.RoleChunkValidator} {
		if got, field := role.Volume(volume); got != volume || field != "spec.volume" {
			t.Errorf("the disk of a %s is %+v by %s, want that of all", role, got, field)
		}
	}
	if got, _ := topology.RoleRPC.Volume(nil); got != nil {
		t.Errorf("without spec.volume, the disk is %+v", got)
	}
}
