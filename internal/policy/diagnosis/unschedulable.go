// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// unschedulable is a pod that no machine takes, or whose disk is not there.
func unschedulable(network *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	scheduled := pods.Condition(node.Pod, corev1.PodScheduled)
	if scheduled == nil || scheduled.Status != corev1.ConditionFalse {
		return nil
	}
	name, words := node.Validator.Name, pods.SchedulerWords(scheduled.Message)
	if reachesNoVolume(words) {
		return &Diagnosis{v1alpha1.ReasonVolumeUnreachable, fmt.Sprintf(
			"the disk of %s is where no machine takes its pod: %s. %s", name, wording.Quote(words), volumeAdvice(network, node))}
	}
	if mentionsVolume(words) {
		return &Diagnosis{v1alpha1.ReasonVolumePending, fmt.Sprintf(
			"the disk of %s is not there: %s. %s; see kubectl describe pvc %s",
			name, wording.Quote(words), classAdvice(network, node), resources.ClaimName(name))}
	}
	return &Diagnosis{v1alpha1.ReasonUnschedulable, fmt.Sprintf(
		"no machine takes %s: %s. %s", name, wording.Quote(words), machineAdvice(network, node))}
}

// reachesNoVolume says whether a pod's disk is there, but on a machine or in a
// zone that takes no pods. One that has only no room for this pod takes others.
func reachesNoVolume(words string) bool {
	return mentions(words, "PersistentVolume's node affinity", "volume node affinity conflict", "plugin(s) [VolumeBinding]") &&
		!mentions(words, "Insufficient", "anti-affinity")
}

// volumeAdvice says how a node comes back whose disk is elsewhere, or without
// its disk.
func volumeAdvice(network *v1alpha1.ShardNetwork, node *observed.Node) string {
	return "Uncordon or bring back the machine that has it; if that is gone for good, " + NewDiskAdvice(network, node)
}

// NewDiskAdvice says how a node gets a new disk, and what comes of it.
func NewDiskAdvice(network *v1alpha1.ShardNetwork, node *observed.Node) string {
	advice := fmt.Sprintf("kubectl delete pvc %s and then pod %s",
		resources.ClaimName(node.Validator.Name), resources.PodName(node.Validator.Name))
	switch {
	case node.Validator.Role == topology.RoleRPC:
		return advice + ": an rpc node keeps no state"
	case node.Validator.Role == topology.RoleArchive:
		return advice + ", while every shard has a producer that runs: the archive fetches their states again"
	case node.Validator.Seat == nil:
		return advice + ": a chunk validator keeps no state"
	case network.Spec.ProducersPerShard == 1:
		return advice + fmt.Sprintf(", which loses the state of shard %d: nobody else has it", node.Validator.Shard)
	default:
		return advice + fmt.Sprintf(", while another producer of shard %d runs, which gives it the shard's state", node.Validator.Shard)
	}
}

func mentionsVolume(words string) bool {
	return mentions(strings.ToLower(words), "persistentvolumeclaim", "persistent volumes", "storageclass", "enough free storage")
}

// mentions says whether words hold one of some others.
func mentions(words string, others ...string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return strings.Contains(words, other) })
}

// classAdvice says what the disk of a node comes from.
func classAdvice(network *v1alpha1.ShardNetwork, node *observed.Node) string {
	disk := resources.DiskOf(network, node.Validator.Role)
	switch {
	case disk == nil:
		return "Make a default storage class, or make the network again with spec.volume.storageClassName"
	case disk.HasPerformance():
		return fmt.Sprintf("Install the provisioner %s of the storage class %s, or make the network again "+
			"with a %s.storageClassName that the cluster has", resources.Provisioner, disk.Class(), disk.Field)
	case disk.Class() != "":
		return fmt.Sprintf("Make the storage class %s, or make the network again with another %s.storageClassName",
			disk.Class(), disk.Field)
	default:
		return "Make a default storage class, or make the network again with " + disk.Field + ".storageClassName"
	}
}

// machineAdvice says what a machine must be for a node to run on it, and what
// of that the spec may do without.
func machineAdvice(network *v1alpha1.ShardNetwork, node *observed.Node) string {
	placement := &network.Spec.Placement
	var wanted, relaxed []string
	if machineType, field := topology.MachineType(placement, node.Validator.Region); machineType != "" {
		wanted = append(wanted, fmt.Sprintf("label %s=%s", resources.LabelMachineType, machineType))
		relaxed = append(relaxed, "leave out "+field)
	}
	if topology.KeepsToRegions(&network.Spec) {
		wanted = append(wanted, fmt.Sprintf("label %s=%s", resources.LabelRegionOfMachine, node.Validator.Region))
		relaxed = append(relaxed, "set spec.placement.regionAffinity to None")
	}
	if template := network.Spec.PodTemplate; template != nil && template.Spec != nil && len(template.Spec.NodeSelector) > 0 {
		wanted = append(wanted, "the labels of spec.podTemplate.spec.nodeSelector")
		relaxed = append(relaxed, "leave out some of spec.podTemplate.spec.nodeSelector")
	}
	if placement.Exclusivity == v1alpha1.OneValidatorPerMachine {
		wanted = append(wanted, "no other validator")
		relaxed = append(relaxed, "set spec.placement.exclusivity to Shared")
	}
	if amounts, field := node.Validator.Role.Resources(&network.Spec.Node); amounts != nil {
		wanted = append(wanted, "room for "+field)
		relaxed = append(relaxed, "lower "+field)
	}
	if len(wanted) == 0 {
		return "Add machines"
	}
	return "Add a machine with " + strings.Join(wanted, ", ") + "; or " + strings.Join(relaxed, ", ")
}
