// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// newSpec is a network of one validator that runs anywhere.
func newSpec() v1alpha1.ShardNetworkSpec {
	return v1alpha1.ShardNetworkSpec{
		Shards:            1,
		ProducersPerShard: 1,
		Regions:           []v1alpha1.Region{{Name: "local", Nodes: 1}},
		Genesis:           v1alpha1.GenesisSpec{AccountsPerShard: 100},
		Placement: v1alpha1.PlacementSpec{
			Exclusivity:    v1alpha1.Shared,
			RegionAffinity: v1alpha1.RegionNone,
		},
	}
}

// newSpecOfFour is a network of two shards with two validators each.
func newSpecOfFour() v1alpha1.ShardNetworkSpec {
	spec := newSpec()
	spec.Shards, spec.ProducersPerShard = 2, 2
	spec.Regions[0].Nodes = 4
	return spec
}

// create makes a network.
func (c *cluster) create(t *testing.T, namespace, name string, spec *v1alpha1.ShardNetworkSpec) *network {
	t.Helper()
	if err := c.Create(t.Context(), &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       *spec,
	}); err != nil {
		t.Fatal(err)
	}
	return c.network(t, namespace, name)
}

// remove deletes the network, which takes everything with it.
func (n *network) remove(t *testing.T) {
	t.Helper()
	if err := n.Delete(t.Context(), n.mustRead(t), client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
}

// waitForEnd waits until nothing is left of the network.
func (n *network) waitForEnd(t *testing.T) {
	t.Helper()
	eventually(t, "the end of "+n.name, func(ctx context.Context) error {
		return n.left(ctx, func(object string) bool { return !strings.Contains(object, " "+n.namespace+"/"+n.name) })
	})
}
