// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// selects says whether a NodeTuning is about a machine: by its labels and taints,
// as the cluster decides where it makes agents.
func selects(nodeTuning *v1alpha1.NodeTuning, machine *corev1.Node) bool {
	for label, value := range resources.TunedMachines(nodeTuning) {
		if got, found := machine.Labels[label]; !found || got != value {
			return false
		}
	}
	tolerations := resources.Tolerations(nodeTuning.Spec.Tolerations)
	for i := range machine.Spec.Taints {
		taint := &machine.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !slices.Contains(conditionTaints, taint.Key) &&
			!slices.ContainsFunc(tolerations, func(toleration corev1.Toleration) bool {
				return toleration.ToleratesTaint(logr.Discard(), taint, true)
			}) {
			return false
		}
	}
	return true
}

// conditionTaints are those that say how a machine is, and nobody's wish for it.
// The cluster lets agents stay with them, but for some it makes no new ones: these
// machines wait for their agents, and keep what they have.
var conditionTaints = []string{
	corev1.TaintNodeNotReady,
	corev1.TaintNodeUnreachable,
	corev1.TaintNodeDiskPressure,
	corev1.TaintNodeMemoryPressure,
	corev1.TaintNodePIDPressure,
	corev1.TaintNodeUnschedulable,
	corev1.TaintNodeNetworkUnavailable,
}
