// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Restarts picks the nodes to replace now, as indices into the observation's
// nodes, because they run something else than the spec says.
//
// What does not run is replaced at once: nobody misses it. Of the others one of
// a shard at a time goes, while its other producers stay, and over all shards
// at most half of the producers that consensus can do without: (n - 1) / 3 of n.
// Networks of fewer than four producers stand still for every single one, so
// there they go one by one. So do chunk validators, which consensus does without.
func Restarts(observation *Observation) (restart []int, updated metav1.Condition) {
	nodes := observation.Nodes
	outdated := 0
	for i := range nodes {
		if nodes[i].Outdated {
			outdated++
		}
	}
	if outdated == 0 && observation.Unapplied {
		return nil, condition(v1alpha1.ConditionUpdated, metav1.ConditionUnknown, v1alpha1.ReasonObjectsPending,
			"it is not known that every object of the network is as the spec says: see the condition Applied")
	}
	if outdated == 0 && observation.Settling {
		return nil, condition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonUpdating,
			"the cluster is taking up the objects of the network")
	}
	if outdated == 0 {
		return nil, condition(v1alpha1.ConditionUpdated, metav1.ConditionTrue, v1alpha1.ReasonUpToDate,
			fmt.Sprintf("all %d nodes run what the spec says", len(nodes)))
	}

	turns := newTurns(observation)
	for i := range nodes {
		node := &nodes[i]
		if node.Outdated && node.Pod != nil && node.Pod.DeletionTimestamp == nil && turns.take(node) {
			restart = append(restart, i)
		}
	}
	if len(restart) == 0 {
		return nil, condition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonWaiting, fmt.Sprintf(
			"%d of %d nodes run something else than the spec says; the next is replaced when the others take part, answer the "+
				"operator and are connected to each other",
			outdated, len(nodes)))
	}
	return restart, condition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonUpdating, fmt.Sprintf(
		"%d of %d nodes run something else than the spec says and are replaced, one of a shard at a time", outdated, len(nodes)))
}
