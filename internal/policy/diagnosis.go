// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// maxQuoteBytes bounds what a message repeats of somebody else's words.
const maxQuoteBytes = 600

// diagnosis is why a node does not take part, and what to do about it.
type diagnosis struct {
	reason  string
	message string
}

// severity orders reasons: what nobody but a person can mend comes first.
var severity = []string{
	v1alpha1.ReasonSysctlForbidden,
	v1alpha1.ReasonPodForbidden,
	v1alpha1.ReasonImageUnavailable,
	v1alpha1.ReasonDiskFull,
	v1alpha1.ReasonOutOfMemory,
	v1alpha1.ReasonCrashing,
	v1alpha1.ReasonUnschedulable,
	v1alpha1.ReasonVolumePending,
	v1alpha1.ReasonStuck,
	v1alpha1.ReasonNodesMissing,
	v1alpha1.ReasonNodesNotReady,
}

// diagnose says why a node that is not ready is not.
func diagnose(network *v1alpha1.ShardNetwork, node *Node) diagnosis {
	for _, examine := range []func(*v1alpha1.ShardNetwork, *Node) *diagnosis{
		forbiddenSysctl,
		noPod,
		leaving,
		unschedulable,
		unavailableImage,
		ended,
		stuck,
	} {
		if found := examine(network, node); found != nil {
			return *found
		}
	}
	return notReady(node)
}

// forbiddenSysctl is a pod that its machine refuses, because its kubelet does
// not allow the settings or its kernel does not take them. The pod may be gone
// again: a StatefulSet replaces what was refused.
func forbiddenSysctl(network *v1alpha1.ShardNetwork, node *Node) *diagnosis {
	if network.Spec.TCP.Profile == v1alpha1.TCPProfileNodeDefault {
		return nil
	}
	words := ""
	if node.Pod != nil && node.Pod.Status.Reason == "SysctlForbidden" {
		words = node.Pod.Status.Message
	}
	for _, warning := range node.Warnings {
		if words == "" && mentionsSysctl(warning) {
			words = warning
		}
	}
	if words == "" {
		return nil
	}
	return &diagnosis{v1alpha1.ReasonSysctlForbidden, fmt.Sprintf(
		"the machine refuses a TCP setting of %s: %s. "+
			"Allow the unsafe sysctls net.core.* and net.ipv4.* in its kubelet and bbr in its "+
			"net.ipv4.tcp_allowed_congestion_control, or set spec.tcp.profile to NodeDefault",
		node.Validator.Name, quote(words))}
}

func mentionsSysctl(warning string) bool {
	return strings.Contains(strings.ToLower(warning), "sysctl") || strings.Contains(warning, "/proc/sys/net/") ||
		strings.Contains(warning, "sys/net/")
}

// noPod is a StatefulSet whose pod does not exist.
func noPod(_ *v1alpha1.ShardNetwork, node *Node) *diagnosis {
	if node.Pod != nil {
		return nil
	}
	for _, warning := range node.Warnings {
		if strings.Contains(warning, "forbidden") || strings.Contains(warning, "admission") {
			return &diagnosis{v1alpha1.ReasonPodForbidden, fmt.Sprintf(
				"the cluster refuses the pod of %s: %s. Change the policy or quota that it names, or the spec",
				node.Validator.Name, quote(warning))}
		}
	}
	if len(node.Warnings) > 0 {
		return &diagnosis{v1alpha1.ReasonNodesMissing, fmt.Sprintf(
			"%s has no pod: %s", node.Validator.Name, quote(node.Warnings[0]))}
	}
	return &diagnosis{v1alpha1.ReasonNodesMissing, node.Validator.Name + " has no pod yet"}
}

func leaving(_ *v1alpha1.ShardNetwork, node *Node) *diagnosis {
	if node.Pod.DeletionTimestamp == nil {
		return nil
	}
	return &diagnosis{v1alpha1.ReasonNodesMissing, node.Validator.Name + " is being replaced"}
}

func unschedulable(network *v1alpha1.ShardNetwork, node *Node) *diagnosis {
	scheduled := podCondition(node.Pod, corev1.PodScheduled)
	if scheduled == nil || scheduled.Status != corev1.ConditionFalse {
		return nil
	}
	name := node.Validator.Name
	if mentionsVolume(scheduled.Message) {
		return &diagnosis{v1alpha1.ReasonVolumePending, fmt.Sprintf(
			"the disk of %s is not there: %s. Make the storage class, or a default one, or correct "+
				"spec.volume in a new network: a validator keeps the disk it started with", name, quote(scheduled.Message))}
	}
	return &diagnosis{v1alpha1.ReasonUnschedulable, fmt.Sprintf(
		"no machine takes %s: %s. %s", name, quote(scheduled.Message), machineAdvice(network, node))}
}

func mentionsVolume(message string) bool {
	return strings.Contains(message, "PersistentVolumeClaim") || strings.Contains(message, "storageclass") ||
		strings.Contains(message, "persistentvolumeclaim")
}

// machineAdvice says what a machine must be for a node to run on it.
func machineAdvice(network *v1alpha1.ShardNetwork, node *Node) string {
	placement := &network.Spec.Placement
	var wanted []string
	if placement.MachineType != "" {
		wanted = append(wanted, fmt.Sprintf("label %s=%s", resources.LabelMachineType, placement.MachineType))
	}
	if placement.RegionAffinity == v1alpha1.RegionRequired {
		wanted = append(wanted, fmt.Sprintf("label %s=%s", resources.LabelRegionOfMachine, node.Validator.Region))
	}
	if placement.Exclusivity == v1alpha1.OneValidatorPerMachine {
		wanted = append(wanted, "no other validator")
	}
	if network.Spec.Node.Resources != nil {
		wanted = append(wanted, "room for spec.node.resources")
	}
	if len(wanted) == 0 {
		return "Add machines"
	}
	return "Add a machine with " + strings.Join(wanted, ", ") +
		"; or relax spec.placement (exclusivity: Shared, regionAffinity: None) or spec.node.resources"
}

func unavailableImage(_ *v1alpha1.ShardNetwork, node *Node) *diagnosis {
	for i := range node.Pod.Status.ContainerStatuses {
		waiting := node.Pod.Status.ContainerStatuses[i].State.Waiting
		if waiting == nil {
			continue
		}
		switch waiting.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError":
			return &diagnosis{v1alpha1.ReasonImageUnavailable, fmt.Sprintf(
				"the image %s of %s cannot be had: %s. Correct spec.node.image, or let the machines reach its registry",
				node.Pod.Spec.Containers[0].Image, node.Validator.Name, quote(imageWords(waiting, node.Warnings)))}
		}
	}
	return nil
}

// imageWords prefers why a pull failed over that it is not tried just now.
func imageWords(waiting *corev1.ContainerStateWaiting, warnings []string) string {
	if waiting.Reason == "ImagePullBackOff" {
		for _, warning := range warnings {
			if strings.Contains(warning, "Failed to pull") {
				return warning
			}
		}
	}
	if waiting.Message == "" {
		return waiting.Reason
	}
	return waiting.Message
}

// ended is a node whose process does not stay.
func ended(network *v1alpha1.ShardNetwork, node *Node) *diagnosis {
	for i := range node.Pod.Status.ContainerStatuses {
		status := &node.Pod.Status.ContainerStatuses[i]
		last := status.State.Terminated
		if last == nil && status.State.Running == nil {
			last = status.LastTerminationState.Terminated
		}
		if last == nil || last.ExitCode == 0 {
			continue
		}
		found := endedWith(network, node.Validator.Name, last)
		return &found
	}
	return nil
}

func endedWith(network *v1alpha1.ShardNetwork, name string, last *corev1.ContainerStateTerminated) diagnosis {
	words := lastWords(last.Message)
	switch {
	case last.Reason == "OOMKilled":
		return diagnosis{v1alpha1.ReasonOutOfMemory, name +
			" was killed because it took more memory than it may: raise spec.node.resources.limits.memory, " +
			"or lower spec.genesis.accountsPerShard or spec.node.features.mempoolCapacity"}
	case strings.Contains(words, "No space left on device"), strings.Contains(words, "Disk quota exceeded"):
		advice := "give its machine more room: without spec.volume, data is on the machine's own disk"
		if network.Spec.Volume != nil {
			advice = fmt.Sprintf("expand the volume claim %s-%s, or make the network again with a larger spec.volume.size "+
				"or a smaller spec.node.storage.retentionBlocks", "data", resources.PodName(name))
		}
		return diagnosis{v1alpha1.ReasonDiskFull, fmt.Sprintf("the disk of %s is full: %s; %s", name, quote(words), advice)}
	case words == "":
		return diagnosis{v1alpha1.ReasonCrashing, fmt.Sprintf(
			"%s ends with exit code %d and says nothing (%s): see kubectl logs --previous %s",
			name, last.ExitCode, last.Reason, resources.PodName(name))}
	default:
		return diagnosis{v1alpha1.ReasonCrashing, fmt.Sprintf(
			"%s ends with exit code %d: %s. See kubectl logs --previous %s",
			name, last.ExitCode, quote(words), resources.PodName(name))}
	}
}

// stuck is a pod on a machine that cannot set it up.
func stuck(_ *v1alpha1.ShardNetwork, node *Node) *diagnosis {
	if node.Pod.Status.Phase != corev1.PodPending || len(node.Warnings) == 0 {
		return nil
	}
	return &diagnosis{v1alpha1.ReasonStuck, fmt.Sprintf(
		"the machine %s cannot set up %s: %s. See kubectl describe pod %s",
		node.Pod.Spec.NodeName, node.Validator.Name, quote(node.Warnings[0]), resources.PodName(node.Validator.Name))}
}

func notReady(node *Node) diagnosis {
	name := node.Validator.Name
	switch {
	case len(node.NotReady) > 0:
		return diagnosis{v1alpha1.ReasonNodesNotReady, name + " does not take part: " + strings.Join(node.NotReady, "; ")}
	case node.Pod.Status.Phase == corev1.PodPending:
		return diagnosis{v1alpha1.ReasonNodesMissing, name + " is starting"}
	default:
		return diagnosis{v1alpha1.ReasonNodesNotReady, name + " does not take part yet"}
	}
}

// lastWords is the last line of a log, without the form of a log line.
func lastWords(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	var line struct {
		Message string `json:"message"`
		Fields  struct {
			Message string `json:"message"`
		} `json:"fields"`
	}
	if json.Unmarshal([]byte(last), &line) != nil {
		return last
	}
	if line.Fields.Message != "" {
		return line.Fields.Message
	}
	if line.Message != "" {
		return line.Message
	}
	return last
}

// quote makes somebody else's words fit into a sentence.
func quote(words string) string {
	words = strings.Join(strings.Fields(words), " ")
	words = strings.TrimRight(words, ".")
	if len(words) > maxQuoteBytes {
		words = strings.ToValidUTF8(words[:maxQuoteBytes], "") + "…"
	}
	return words
}
