// SPDX-License-Identifier: Apache-2.0

package resources

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// newDisruptionBudgets lets whoever drains machines take one producer of a
// shard at a time. A shard with a single producer has no budget: one that
// allows nothing would keep its machine from ever being drained.
func newDisruptionBudgets(network *v1alpha1.ShardNetwork, plan *topology.Plan) []Object {
	if network.Spec.ProducersPerShard < 2 {
		return nil
	}
	budgets := make([]Object, 0, plan.Shards)
	for shard := range plan.Shards {
		budgets = append(budgets, &policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
			ObjectMeta: owned(network, disruptionBudgetName(network.Name, shard)),
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: ptr.To(intstr.FromInt32(1)),
				Selector:       &metav1.LabelSelector{MatchLabels: shardSelector(network.Name, shard)},
				// A pod that does not run keeps nobody from draining its machine.
				UnhealthyPodEvictionPolicy: ptr.To(policyv1.AlwaysAllow),
			},
		})
	}
	return budgets
}
