// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"testing"

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
