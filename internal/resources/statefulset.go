// SPDX-License-Identifier: Apache-2.0

package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// newStatefulSet runs one validator. The set never replaces its pod by itself:
// when a validator may restart depends on the others.
func newStatefulSet(
	network *v1alpha1.ShardNetwork,
	ports topology.Ports,
	validator topology.Validator,
	config, peers document,
	inputs Inputs,
) *appsv1.StatefulSet {
	labels := ValidatorLabels(network.Name, validator)
	meta := owned(network, validator.Name)
	meta.Labels = labels
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			Replicas:                             ptr.To[int32](1),
			ServiceName:                          P2PServiceName(network.Name),
			PodManagementPolicy:                  appsv1.ParallelPodManagement,
			UpdateStrategy:                       appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			PersistentVolumeClaimRetentionPolicy: claimRetention(network),
			Selector:                             &metav1.LabelSelector{MatchLabels: validatorSelector(network.Name, validator)},
			Template:                             podTemplate(network, ports, validator, config, peers, inputs),
			VolumeClaimTemplates:                 volumeClaims(network, validator.Role, labels),
		},
	}
}
