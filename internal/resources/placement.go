// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// TaintMachineType keeps other pods off machines that are meant for
// validators; its value is the machine type.
const TaintMachineType = "shardyard.dev/machine-type"

// nodeSelector picks the machines that a validator may run on.
func nodeSelector(spec *v1alpha1.PlacementSpec, validator topology.Validator) map[string]string {
	selector := map[string]string{}
	if spec.MachineType != "" {
		selector[LabelMachineType] = spec.MachineType
	}
	if spec.RegionAffinity == v1alpha1.RegionRequired {
		selector[LabelRegionOfMachine] = validator.Region
	}
	return selector
}

func tolerations(spec *v1alpha1.PlacementSpec) []corev1.Toleration {
	if spec.MachineType == "" {
		return nil
	}
	return []corev1.Toleration{{
		Key:      TaintMachineType,
		Operator: corev1.TolerationOpEqual,
		Value:    spec.MachineType,
		Effect:   corev1.TaintEffectNoSchedule,
	}}
}

// affinity keeps validators apart: of all networks when each needs a machine
// of its own, else those of one shard, and the chunk validators, as far as there
// is room.
func affinity(network *v1alpha1.ShardNetwork, validator topology.Validator) *corev1.Affinity {
	antiAffinity := &corev1.PodAntiAffinity{}
	if network.Spec.Placement.Exclusivity == v1alpha1.Shared {
		antiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{
			Weight: 100,
			PodAffinityTerm: corev1.PodAffinityTerm{
				LabelSelector: &metav1.LabelSelector{MatchLabels: peerSelector(network.Name, validator)},
				TopologyKey:   corev1.LabelHostname,
			},
		}}
	} else {
		antiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{{
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{LabelName: Name}},
			NamespaceSelector: &metav1.LabelSelector{},
			TopologyKey:       corev1.LabelHostname,
		}}
	}
	return &corev1.Affinity{PodAntiAffinity: antiAffinity}
}
