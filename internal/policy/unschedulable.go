// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// unschedulable is a pod that no machine takes, or whose disk is not there.
func unschedulable(network *v1alpha1.ShardNetwork, node *Node) *diagnosis {
	scheduled := podCondition(node.Pod, corev1.PodScheduled)
	if scheduled == nil || scheduled.Status != corev1.ConditionFalse {
		return nil
	}
	name, words := node.Validator.Name, schedulerWords(scheduled.Message)
	if mentionsVolume(words) {
		return &diagnosis{v1alpha1.ReasonVolumePending, fmt.Sprintf(
			"the disk of %s is not there: %s. %s; see kubectl describe pvc %s",
			name, quote(words), classAdvice(network), resources.ClaimName(name))}
	}
	return &diagnosis{v1alpha1.ReasonUnschedulable, fmt.Sprintf(
		"no machine takes %s: %s. %s", name, quote(words), machineAdvice(network, node))}
}

// schedulerWords leaves out what the scheduler says of other pods that it might
// have moved out of the way.
func schedulerWords(message string) string {
	words, _, _ := strings.Cut(message, " preemption: ")
	return strings.TrimSuffix(words, " no new claims to deallocate,")
}

func mentionsVolume(words string) bool {
	words = strings.ToLower(words)
	for _, mention := range []string{"persistentvolumeclaim", "persistent volumes", "storageclass", "enough free storage"} {
		if strings.Contains(words, mention) {
			return true
		}
	}
	return false
}

// classAdvice says what a network's disks come from.
func classAdvice(network *v1alpha1.ShardNetwork) string {
	volume := network.Spec.Volume
	switch {
	case resources.HasStorageClass(network):
		return fmt.Sprintf("Install the provisioner %s of the storage class %s, or make the network again "+
			"with a spec.volume.storageClassName that the cluster has", resources.Provisioner, resources.StorageClassName(network))
	case volume != nil && volume.StorageClassName != "":
		return fmt.Sprintf("Make the storage class %s, or make the network again with another spec.volume.storageClassName",
			volume.StorageClassName)
	default:
		return "Make a default storage class, or make the network again with spec.volume.storageClassName"
	}
}

// machineAdvice says what a machine must be for a node to run on it, and what
// of that the spec may do without.
func machineAdvice(network *v1alpha1.ShardNetwork, node *Node) string {
	placement := &network.Spec.Placement
	var wanted, relaxed []string
	if placement.MachineType != "" {
		wanted = append(wanted, fmt.Sprintf("label %s=%s", resources.LabelMachineType, placement.MachineType))
		relaxed = append(relaxed, "leave out spec.placement.machineType")
	}
	if placement.RegionAffinity == v1alpha1.RegionRequired {
		wanted = append(wanted, fmt.Sprintf("label %s=%s", resources.LabelRegionOfMachine, node.Validator.Region))
		relaxed = append(relaxed, "set spec.placement.regionAffinity to None")
	}
	if placement.Exclusivity == v1alpha1.OneValidatorPerMachine {
		wanted = append(wanted, "no other validator")
		relaxed = append(relaxed, "set spec.placement.exclusivity to Shared")
	}
	if network.Spec.Node.Resources != nil {
		wanted = append(wanted, "room for spec.node.resources")
		relaxed = append(relaxed, "lower spec.node.resources")
	}
	if len(wanted) == 0 {
		return "Add machines"
	}
	return "Add a machine with " + strings.Join(wanted, ", ") + "; or " + strings.Join(relaxed, ", ")
}
