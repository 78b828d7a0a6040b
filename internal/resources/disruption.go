// SPDX-License-Identifier: Apache-2.0

package resources

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// newDisruptionBudget lets nobody take a validator from its machine but those
// that the operator lets go, by a label of their pods. A number could not say
// who may go: shards, clusters and the votes of consensus count together.
func newDisruptionBudget(network *v1alpha1.ShardNetwork) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: owned(network, network.Name),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromInt32(0)),
			Selector: &metav1.LabelSelector{
				MatchLabels: networkSelector(network.Name),
				MatchExpressions: []metav1.LabelSelectorRequirement{{
					Key: LabelEviction, Operator: metav1.LabelSelectorOpNotIn, Values: []string{EvictionAllowed},
				}},
			},
			// Pods that are not ready are those of a chain that stands still as well,
			// whose state nobody else may have.
			UnhealthyPodEvictionPolicy: ptr.To(policyv1.IfHealthyBudget),
		},
	}
}
