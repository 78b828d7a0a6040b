// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

const (
	// forgottenAfter is how long a node that was started again keeps up before that
	// is forgotten.
	forgottenAfter = time.Hour

	// maxNodesBehind is how many nodes a status remembers to be behind.
	maxNodesBehind = 64
)

// nodesBehind is what is remembered of nodes that are behind the chain, in the order
// of the plan: since when each has come no closer, and how often it was started
// again. Whatever brings a node closer begins the time anew, and so does whatever
// excuses it, of which only the starts are remembered.
func nodesBehind(observation *observed.Network, best *chain.Status, excused bool) []v1alpha1.NodeBehind {
	before := observation.Network.Status.NodesBehind
	var found []v1alpha1.NodeBehind
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		known := slices.IndexFunc(before, func(n v1alpha1.NodeBehind) bool { return n.Name == node.Validator.Name })
		record := v1alpha1.NodeBehind{Name: node.Validator.Name}
		if known >= 0 {
			record = before[known]
		}
		if follow(observation, node, best, excused, &record) {
			found = append(found, record)
		}
	}
	// Who was started again is not forgotten for those that were not.
	for i := len(found) - 1; i >= 0 && len(found) > maxNodesBehind; i-- {
		if found[i].Restarts == 0 {
			found = slices.Delete(found, i, i+1)
		}
	}
	return found[:min(len(found), maxNodesBehind)]
}

// follow brings what is remembered of a node up to date, and says whether that is
// worth remembering.
func follow(observation *observed.Network, node *observed.Node, best *chain.Status, excused bool, record *v1alpha1.NodeBehind) bool {
	switch {
	case excused:
		begin(observation, record)
		return record.Restarts > 0
	case node.Status == nil:
		// It has come no closer as far as anybody knows.
		return !record.SinceTime.IsZero()
	case !judged(node, best):
		begin(observation, record)
		return record.Restarts > 0
	}
	lag := lagOf(node.Status, best)
	switch {
	case !isBehind(observation, lag, best):
		lag = 0
		if record.Restarts == 0 {
			return false
		}
		if keepsUp(record) {
			return observation.Now.Sub(record.SinceTime.Time) < forgottenAfter
		}
	case record.BehindBlocks != nil && !keepsUp(record) && lag >= *record.BehindBlocks &&
		!startedAfter(node.Pod, record.SinceTime.Time):
		return true
	}
	begin(observation, record)
	finalized := int64(node.Status.FinalizedHeight)
	record.BehindBlocks, record.FinalizedHeight = &lag, &finalized
	if tracked := node.Status.Tracked; tracked != nil {
		executed := int64(tracked.ExecutedHeight)
		record.ExecutedHeight = &executed
	}
	return true
}

// keepsUp says whether a node that was started again was last seen to keep up.
func keepsUp(record *v1alpha1.NodeBehind) bool {
	return record.BehindBlocks != nil && *record.BehindBlocks == 0
}

// begin begins the time of a node anew, of which nothing is known from then on but
// how often it was started again.
func begin(observation *observed.Network, record *v1alpha1.NodeBehind) {
	*record = v1alpha1.NodeBehind{
		Name: record.Name, Restarts: record.Restarts, RestartTime: record.RestartTime, SinceTime: metav1.NewTime(observation.Now),
	}
}

// judged says whether a node that answers can be held to account for where it is. One
// without a block, and one that fetches the state of its shard, began with an empty
// disk, and wait for what others have.
func judged(node *observed.Node, best *chain.Status) bool {
	status := node.Status
	return status.GenesisHash == best.GenesisHash && node.Running() && !node.Unobserved &&
		status.FinalizedHeight > 0 && status.Syncing == nil
}

// lagOf is how many blocks a node is behind the chain: behind the last finalised one,
// or in executing what final blocks hold of its shard.
func lagOf(status, best *chain.Status) int64 {
	lag := int64(best.FinalizedHeight) - int64(status.FinalizedHeight)
	if tracked := status.Tracked; tracked != nil {
		for i := range best.Shards {
			if shard := &best.Shards[i]; shard.Shard == tracked.Shard {
				lag = max(lag, int64(shard.ChunkHeight)-int64(tracked.ExecutedHeight))
			}
		}
	}
	return lag
}

// isBehind says whether so many blocks are as many as the chain finalises in the time
// after which it would itself count as stalled.
func isBehind(observation *observed.Network, lag int64, best *chain.Status) bool {
	blockTimeMs := max(best.BlockTimeMs, float64(observation.Network.Spec.Protocol.MinBlockTimeMilliseconds))
	return float64(lag)*blockTimeMs > float64(observation.StallTime().Milliseconds())
}

// startedAfter says whether a pod was made, or its node started, after a time.
func startedAfter(pod *corev1.Pod, since time.Time) bool {
	if pod.CreationTimestamp.After(since) {
		return true
	}
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.State.Running != nil && status.State.Running.StartedAt.After(since)
	})
}
