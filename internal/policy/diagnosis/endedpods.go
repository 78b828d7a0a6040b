// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// evicted is a pod that its machine ended because it ran short of something.
// The pod may be gone again, like one that was refused.
func evicted(network *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	const reason = "Evicted"
	words := ""
	if node.Pod != nil && node.Pod.Status.Reason == reason {
		words = node.Pod.Status.Message
	}
	for _, warning := range node.Warnings {
		if said, ok := strings.CutPrefix(warning.Words, reason+": "); ok && words == "" {
			words = said
		}
	}
	if words == "" {
		return nil
	}

	name, short := node.Validator.Name, strings.ToLower(words)
	switch {
	case strings.Contains(short, "ephemeral"), strings.Contains(short, "inodes"), strings.Contains(short, "diskpressure"):
		advice := "make room on it"
		if network.Spec.Volume == nil {
			advice += ", where data is without spec.volume"
		}
		return &Diagnosis{v1alpha1.ReasonDiskFull, fmt.Sprintf(
			"the machine of %s is out of disk: %s; %s", name, wording.Quote(words), advice)}
	case strings.Contains(short, "memory"):
		return &Diagnosis{v1alpha1.ReasonOutOfMemory, fmt.Sprintf(
			"the machine of %s is out of memory: %s; set spec.node.resources.requests.memory to what a node takes",
			name, wording.Quote(words))}
	default:
		return &Diagnosis{v1alpha1.ReasonNodesMissing, fmt.Sprintf("%s was evicted: %s", name, wording.Quote(words))}
	}
}

// ended is a node whose process does not stay.
func ended(network *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	for i := range node.Pod.Status.ContainerStatuses {
		status := &node.Pod.Status.ContainerStatuses[i]
		last := status.State.Terminated
		if last == nil && status.State.Running == nil {
			last = status.LastTerminationState.Terminated
		}
		if last == nil || last.ExitCode == 0 {
			continue
		}
		found := endedWith(network, &node.Validator, last)
		return &found
	}
	return nil
}

func endedWith(network *v1alpha1.ShardNetwork, validator *topology.Validator, last *corev1.ContainerStateTerminated) Diagnosis {
	name, words := validator.Name, wording.LastWords(last.Message)
	switch {
	case last.Reason == "OOMKilled":
		return Diagnosis{v1alpha1.ReasonOutOfMemory, fmt.Sprintf(
			"%s was killed because it took more memory than %s or lower spec.node.features.mempoolCapacity, "+
				"or spec.genesis.accountsPerShard in a new network", name, memoryAdvice(validator.Role.Resources(&network.Spec.Node)))}
	case statesContradict(words):
		return Diagnosis{v1alpha1.ReasonStatesContradict, fmt.Sprintf(
			"%s has another state than the chain: %s. Keep its disk and its log, kubectl logs --previous %s, and report it",
			name, wording.Quote(words), resources.PodName(name))}
	case strings.Contains(words, "No space left on device"), strings.Contains(words, "Disk quota exceeded"):
		advice := "give its machine more room: without spec.volume, data is on the machine's own disk"
		if network.Spec.Volume != nil {
			_, field := validator.Role.Volume(network.Spec.Volume)
			advice = fmt.Sprintf("raise %s.size, or, where the storage class of %s does not let it grow, make the network again "+
				"with a larger one or a smaller spec.node.storage.retentionBlocks", field, resources.ClaimName(name))
		}
		return Diagnosis{v1alpha1.ReasonDiskFull, fmt.Sprintf("the disk of %s is full: %s; %s", name, wording.Quote(words), advice)}
	case words == "":
		return Diagnosis{v1alpha1.ReasonCrashing, fmt.Sprintf(
			"%s ends with exit code %d and says nothing (%s): see kubectl logs --previous %s",
			name, last.ExitCode, last.Reason, resources.PodName(name))}
	default:
		return Diagnosis{v1alpha1.ReasonCrashing, fmt.Sprintf(
			"%s ends with exit code %d: %s. See kubectl logs --previous %s",
			name, last.ExitCode, wording.Quote(words), resources.PodName(name))}
	}
}

// statesContradict says whether a node ended because a finalised block commits to
// another result of its shard than the one that it came to itself.
func statesContradict(words string) bool {
	return strings.HasPrefix(words, "finalised block ") && strings.Contains(words, ", this node executed to ")
}

// memoryAdvice says what bounds a node's memory, and how to have more.
func memoryAdvice(amounts *v1alpha1.NodeResources, field string) string {
	if amounts != nil && amounts.Limits != nil && amounts.Limits.Memory != nil {
		return fmt.Sprintf("its limit of %s: raise %s.limits.memory,", amounts.Limits.Memory, field)
	}
	return "its machine has: set " + field + ".requests.memory to what a node takes,"
}
