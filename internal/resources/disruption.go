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

// newDisruptionBudgets lets whoever drains machines of a cluster take one
// producer of a shard at a time. A shard with a single producer in the cluster
// has no budget: one that allows nothing would keep its machine from ever being
// drained, and one that allows a single pod to go would hold nobody back.
func newDisruptionBudgets(network *v1alpha1.ShardNetwork, validators []topology.Validator) []Object {
	var budgets []Object
	producers := map[int]int{}
	for _, validator := range validators {
		shard := validator.Shard
		if producers[shard]++; producers[shard] != 2 {
			continue
		}
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
