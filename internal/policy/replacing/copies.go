// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

// mayHold says whether a pod that does not run may hold a copy of its shard in a
// directory that goes with the pod. One whose node was never started holds
// nothing, and what a pod had that failed is gone already.
func mayHold(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return false
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.RestartCount > 0 || status.State.Running != nil || status.State.Terminated != nil ||
			status.LastTerminationState.Terminated != nil {
			return true
		}
	}
	return false
}

// waitOfEnded is what a producer waits for that does not run, so that nobody
// misses it, but perhaps what it holds.
func (t *turns) waitOfEnded(node *observed.Node, i int) wait {
	if t.durable || node.Pod == nil || !mayHold(node.Pod) {
		return wait{}
	}
	return t.waitForCopy(i)
}

// waitForCopy is what a producer waits for so that its shard is not lost with
// it: that another one's copy can be counted on. A single producer comes back to
// its disk, if it has one.
func (t *turns) waitForCopy(i int) wait {
	validator := &t.observation.Nodes[i].Validator
	if t.single {
		if t.durable || t.observation.Network.Spec.Update.OnlyCopies == v1alpha1.OnlyCopiesDiscard {
			return wait{}
		}
		return wait{v1alpha1.ReasonOnlyCopy, fmt.Sprintf(
			"has the only copy of shard %d, which would be lost with its pod: the network has one producer per shard and "+
				"no spec.volume. To lose it all the same, set spec.update.onlyCopies to Discard", validator.Shard)}
	}
	why := ""
	for j := range t.observation.Nodes {
		other := &t.observation.Nodes[j]
		if j == i || other.Validator.Seat == nil || other.Validator.Shard != validator.Shard {
			continue
		}
		found := "goes just now"
		if !t.going[j] {
			found = observed.Uncounted(other, t.best, t.observation.Now)
		}
		if found == "" {
			return wait{}
		}
		if why == "" {
			why = other.Validator.Name + " " + found
		}
	}
	if !t.moving {
		return awaitChain(fmt.Sprintf(
			"stays while the chain stands still: it does not run, but may have the only copy of shard %d, which would be lost "+
				"with its pod", validator.Shard))
	}
	return waitFor(fmt.Sprintf("waits for somebody else's copy of shard %d: %s", validator.Shard, why))
}
