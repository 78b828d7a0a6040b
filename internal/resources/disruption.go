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
// producer of a shard, and one chunk validator, at a time. What there is one of
// in the cluster has no budget: one that allows nothing would keep its machine
// from ever being drained, and one that allows a single pod to go would hold
// nobody back.
func newDisruptionBudgets(network *v1alpha1.ShardNetwork, validators []topology.Validator) []Object {
	var budgets []Object
	peers := map[string]int{}
	for _, validator := range validators {
		name := disruptionBudgetName(network.Name, validator)
		if peers[name]++; peers[name] == 2 {
			budgets = append(budgets, newDisruptionBudget(network, name, peerSelector(network.Name, validator)))
		}
	}
	return budgets
}

func newDisruptionBudget(network *v1alpha1.ShardNetwork, name string, pods map[string]string) Object {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: owned(network, name),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromInt32(1)),
			Selector:       &metav1.LabelSelector{MatchLabels: pods},
			// A pod that does not run keeps nobody from draining its machine.
			UnhealthyPodEvictionPolicy: ptr.To(policyv1.AlwaysAllow),
		},
	}
}
