// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// TaintMachineType keeps other pods off machines that are meant for
// validators; its value is the machine type.
const TaintMachineType = "shardyard.dev/machine-type"

// nodeSelector picks the machines that a validator may run on.
func nodeSelector(spec *v1alpha1.ShardNetworkSpec, validator topology.Validator) map[string]string {
	selector := map[string]string{}
	if machineType, _ := topology.MachineType(&spec.Placement, validator.Region); machineType != "" {
		selector[LabelMachineType] = machineType
	}
	if topology.KeepsToRegions(spec) {
		selector[LabelRegionOfMachine] = validator.Region
	}
	return selector
}

// machineTypes are those that the validators of a network need; none when any will do
// for some.
func machineTypes(spec *v1alpha1.ShardNetworkSpec) []string {
	types := []string{spec.Placement.MachineType}
	if len(spec.Regions) > 0 {
		types = nil
	}
	for i := range spec.Regions {
		machineType, _ := topology.MachineType(&spec.Placement, spec.Regions[i].Name)
		types = append(types, machineType)
	}
	if slices.Contains(types, "") {
		return nil
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// tolerations are the taints of machines that a pod of the network puts up with which
// may run on machines of these types. Without a
// disk of its own it stays on a machine that does not answer, for as long as that
// takes: the cluster would delete its pod after five minutes, with all that it
// holds, and could make no other before the machine is back or gone.
func tolerations(spec *v1alpha1.ShardNetworkSpec, machineTypes ...string) []corev1.Toleration {
	var found []corev1.Toleration
	for _, machineType := range machineTypes {
		found = append(found, corev1.Toleration{
			Key:      TaintMachineType,
			Operator: corev1.TolerationOpEqual,
			Value:    machineType,
			Effect:   corev1.TaintEffectNoSchedule,
		})
	}
	if spec.Volume == nil {
		for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
			found = append(found, corev1.Toleration{
				Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
			})
		}
	}
	return append(found, Tolerations(templateSpec(spec).Tolerations)...)
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
