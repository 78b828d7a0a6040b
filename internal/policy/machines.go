// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

// Machines are what a network's NodeTuning says of the cluster's machines.
type Machines struct {
	// Tuning is the NodeTuning that the spec names; nil when there is none.
	Tuning *v1alpha1.NodeTuning
	// Tuned are the machines that read back all of its settings.
	Tuned map[string]bool
}

// TunedMachines are those of a NodeTuning's status that read back the settings
// which its spec has now.
func TunedMachines(nodeTuning *v1alpha1.NodeTuning, settingsHash string) map[string]bool {
	tuned := map[string]bool{}
	for _, machine := range nodeTuning.Status.Machines {
		if machine.SettingsHash == settingsHash {
			tuned[machine.Name] = true
		}
	}
	return tuned
}

// TuningAwaited says whether a network can begin: whether its NodeTuning is
// ready.
func TuningAwaited(network *v1alpha1.ShardNetwork, tuning *v1alpha1.NodeTuning) metav1.Condition {
	name := network.Spec.Placement.NodeTuning
	no := func(reason, message string) metav1.Condition {
		return condition.New(v1alpha1.ConditionMachinesTuned, metav1.ConditionFalse, reason, message)
	}
	if tuning == nil {
		return no(v1alpha1.ReasonTuningMissing, fmt.Sprintf(
			"there is no NodeTuning %s: make it, or leave out spec.placement.nodeTuning", name))
	}
	if tuning.DeletionTimestamp != nil {
		return no(v1alpha1.ReasonTuningMissing, fmt.Sprintf(
			"the NodeTuning %s is being deleted: make it again, or leave out spec.placement.nodeTuning", name))
	}
	ready := meta.FindStatusCondition(tuning.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil, ready.ObservedGeneration != tuning.Generation:
		return no(v1alpha1.ReasonTuningNotReady, fmt.Sprintf(
			"nothing is known of the NodeTuning %s yet: the operator acts on it if its chart's nodeTuning.enabled is true", name))
	case ready.Status != metav1.ConditionTrue:
		return no(v1alpha1.ReasonTuningNotReady, fmt.Sprintf("the NodeTuning %s is not ready: %s", name, ready.Message))
	default:
		return condition.New(v1alpha1.ConditionMachinesTuned, metav1.ConditionTrue, v1alpha1.ReasonTuned,
			fmt.Sprintf("all machines of the NodeTuning %s read back its settings", name))
	}
}

// MachinesTuned says whether the machines of the operator's own cluster that
// validators run on have the NodeTuning of the spec; before any is known to run,
// whether it is ready.
func MachinesTuned(observation *observed.Network, machines *Machines) metav1.Condition {
	name := observation.Network.Spec.Placement.NodeTuning
	if name == "" {
		return condition.New(v1alpha1.ConditionMachinesTuned, metav1.ConditionTrue, v1alpha1.ReasonNothingToTune,
			"spec.placement.nodeTuning names no NodeTuning")
	}
	here := len(observation.Plan.In(""))
	if here == 0 {
		return condition.New(v1alpha1.ConditionMachinesTuned, metav1.ConditionTrue, v1alpha1.ReasonNothingToTune,
			"no validator is planned for the operator's own cluster, whose machines the NodeTuning "+name+" is about")
	}
	if machines.Tuning == nil || machines.Tuning.DeletionTimestamp != nil {
		return TuningAwaited(observation.Network, machines.Tuning)
	}
	placed := 0
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if node.Validator.Cluster != "" || node.Pod == nil || node.Pod.Spec.NodeName == "" {
			continue
		}
		placed++
		if machine := node.Pod.Spec.NodeName; !machines.Tuned[machine] {
			return condition.New(v1alpha1.ConditionMachinesTuned, metav1.ConditionFalse, v1alpha1.ReasonMachineNotTuned, fmt.Sprintf(
				"the machine %s of %s does not have the NodeTuning %s: let its spec.nodeSelector select that machine, "+
					"and see kubectl describe nodetuning %s", machine, node.Validator.Name, name, name))
		}
	}
	if placed < here {
		return TuningAwaited(observation.Network, machines.Tuning)
	}
	return condition.New(v1alpha1.ConditionMachinesTuned, metav1.ConditionTrue, v1alpha1.ReasonTuned,
		fmt.Sprintf("the machines of all %d nodes in the operator's own cluster have the NodeTuning %s", placed, name))
}

// ForTuning is what the objects of a network wait for whose machines are tuned
// first.
func ForTuning(name string) string {
	return "the NodeTuning " + name + ": see the condition MachinesTuned"
}
