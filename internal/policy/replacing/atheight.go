// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"fmt"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// awaitsHeight says whether an update to what is wanted would begin only at a height
// that the chain is not known to have finalised. One that has begun goes on.
func awaitsHeight(network *v1alpha1.ShardNetwork, wanted *v1alpha1.NodeRevision) bool {
	at, update := network.Spec.Update.AtHeight, network.Status.Update
	if at == nil || wanted == nil || update != nil && update.Revision == wanted.Name {
		return false
	}
	// Whoever tells the height now may be behind, and a network of which nobody does may
	// need this very update.
	reached := func(told *int64) bool { return told != nil && *told >= *at }
	return !reached(network.Status.FinalizedHeight) && !reached(network.Status.HighestFinalizedHeight)
}

// isScheduled says whether there is an update that waits for its height, or does so
// until now.
func isScheduled(observation *observed.Network, nodes census) bool {
	if !awaitsHeight(observation.Network, observation.Wanted) {
		return false
	}
	stable := observation.Network.Status.StableRevision
	return nodes.outdated > 0 || stable != nil && stable.Name != observation.Wanted.Name
}

// scheduled is a network whose nodes are left alone until the height of their update.
// Then it begins, and what the spec asks of the nodes is applied: whoever looks next
// picks the first one.
func scheduled(observation *observed.Network, nodes census) Rollout {
	at := *observation.Network.Spec.Update.AtHeight
	if best := observation.Best(); best == nil || int64(best.FinalizedHeight) < at {
		return Rollout{Replace: exempt(observation), Updated: updated(v1alpha1.ReasonAwaitingHeight, fmt.Sprintf(
			"%s, as spec.update.atHeight says; status.finalizedHeight says how far it is. To begin at once, leave that field out",
			awaiting(observation, nodes, at)))}
	}
	begun := continued(observation, nodes)
	begun.NodesUpdated, begun.NodesBack = new(int32), new(int32)
	return Rollout{Update: begun, Updated: updated(v1alpha1.ReasonUpdating, fmt.Sprintf(
		"%s begins: the chain has finalised height %d, as spec.update.atHeight asks", postponed(observation, nodes), at))}
}

// exempt are the nodes that do not wait for the height: of a network that was
// never complete those that do not run. It has nothing to go back to, so a pod that is
// made again runs what the spec says anyway, and a chain that lacks the node may never
// come to the height.
func exempt(observation *observed.Network) []int {
	if observation.Network.Status.StableRevision != nil {
		return nil
	}
	var replace []int
	turns := newTurns(observation)
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		stays := !node.Outdated || node.Pod == nil || node.Pod.DeletionTimestamp != nil
		if !stays && !node.Ready() && !node.Running() && turns.take(i).over() {
			replace = append(replace, i)
		}
	}
	return replace
}

// awaiting says what waits for a height.
func awaiting(observation *observed.Network, nodes census, at int64) string {
	if observation.Network.Status.StableRevision == nil {
		return fmt.Sprintf("%s. The network was not complete yet, so those that do not run come back as the spec says; the others "+
			"are replaced once the chain has finalised height %d", nodes.words(), at)
	}
	return fmt.Sprintf("%s waits until the chain has finalised height %d", postponed(observation, nodes), at)
}

// postponed says what is not done yet.
func postponed(observation *observed.Network, nodes census) string {
	if fields := differences(observation.Network.Status.StableRevision, observation.Wanted); len(fields) > 0 {
		return "the change of " + wording.List(fields)
	}
	return fmt.Sprintf("the replacement of %d of %d nodes", nodes.outdated, nodes.total)
}
