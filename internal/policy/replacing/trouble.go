// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/pods"
)

const (
	// maxSilentBlocks is how many blocks in a row may hold no chunk of a shard
	// while nodes are replaced.
	maxSilentBlocks = 20

	// loopRestarts is how often a node must have been started again for it to keep
	// ending.
	loopRestarts = 2
)

// troubleOf says what harm an update does; nothing if none is seen. What was so
// before the update began is none of its harm: it may be what the update mends. Nor is
// a disk that is gone, which no other revision brings back.
func troubleOf(observation *observed.Network, update *v1alpha1.UpdateStatus) string {
	best := observation.Best()
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if !node.Updated() || node.LostDisk != nil {
			continue
		}
		words := brokenNode(observation, node, update.StartTime.Time)
		if node.Ready() {
			words = unfinishedNode(observation, node, best, update.ProgressTime.Time)
		}
		if words != "" {
			return words
		}
	}
	if words := silencedShard(observation, best, update); words != "" {
		return words
	}
	return haltedChain(observation, best, update)
}

// deadline is how long a node may take to come back, and the chain for a block.
func deadline(observation *observed.Network) time.Duration {
	return time.Duration(observation.Network.Spec.Update.DeadlineSeconds) * time.Second
}

// brokenNode is one that was replaced and keeps ending, whose pod the cluster
// refuses, or that does not take part in time. While the chain stands still, no
// node takes part, so that only those are told that do not run.
func brokenNode(observation *observed.Network, node *observed.Node, start time.Time) string {
	seen := *node
	// What was said before the update began is of the pod of before: a quota may have had
	// no room for it.
	seen.Warnings = slices.DeleteFunc(slices.Clone(node.Warnings), func(warning observed.Warning) bool {
		return warning.At.Before(start)
	})
	found := diagnosis.Of(observation.Network, &seen)
	if found.Reason == v1alpha1.ReasonPodForbidden || node.Pod != nil && keepsEnding(node.Pod) {
		return found.Message
	}
	if node.Pod == nil {
		return ""
	}
	since := notReadySince(node.Pod, start)
	late := observation.Now.Sub(since) > deadline(observation)
	if !late || node.Running() && observation.ReadyNodes() == 0 {
		return ""
	}
	return fmt.Sprintf("%s was replaced and is not back since %s: %s",
		node.Validator.Name, since.UTC().Format(time.RFC3339), found.Message)
}

// unfinishedNode is one that was replaced, takes part, and still lacks what its
// shard would need, since the update last got on.
func unfinishedNode(observation *observed.Network, node *observed.Node, best *chain.Status, progress time.Time) string {
	if node.Validator.Seat == nil || observation.Now.Sub(progress) <= deadline(observation) {
		return ""
	}
	why := observed.Uncounted(node, best, observation.Now)
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%s was replaced and %s; the update got no further since %s",
		node.Validator.Name, why, progress.UTC().Format(time.RFC3339))
}

// notReadySince is when a pod that is not ready ceased to be or was made; at the
// start of the update, if that was before.
func notReadySince(pod *corev1.Pod, since time.Time) time.Time {
	if made := pod.CreationTimestamp.Time; made.After(since) {
		since = made
	}
	if condition := pods.Condition(pod, corev1.PodReady); condition != nil && condition.LastTransitionTime.After(since) {
		since = condition.LastTransitionTime.Time
	}
	return since
}

func keepsEnding(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.State.Running == nil && status.RestartCount >= loopRestarts {
			return true
		}
	}
	return false
}

// silencedShard is one whose chunks ceased since the update began. A shard with
// one producer has none while that one is replaced.
func silencedShard(observation *observed.Network, best *chain.Status, update *v1alpha1.UpdateStatus) string {
	if best == nil || update.StartHeight == nil || observation.Network.Spec.ProducersPerShard == 1 {
		return ""
	}
	start := uint64(*update.StartHeight)
	for i := range best.Shards {
		shard := &best.Shards[i]
		if shard.ChunkHeight+maxSilentBlocks >= start && shard.ChunkHeight+maxSilentBlocks < best.FinalizedHeight {
			return fmt.Sprintf("shard %d had no chunk since height %d", shard.Shard, shard.ChunkHeight)
		}
	}
	return ""
}

// haltedChain is a chain that stands still since the update began.
func haltedChain(observation *observed.Network, best *chain.Status, update *v1alpha1.UpdateStatus) string {
	if best == nil || best.FinalizedHeight == 0 {
		return ""
	}
	finalized := time.UnixMilli(best.FinalizedTimeMs)
	if finalized.Before(update.StartTime.Time) || observation.Now.Sub(finalized) <= deadline(observation) {
		return ""
	}
	return fmt.Sprintf("no block was finalised since %s (height %d)",
		finalized.UTC().Format(time.RFC3339), best.FinalizedHeight)
}
