// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
)

// decisive are the conditions that Ready sums up, the first causes first.
var decisive = []string{
	v1alpha1.ConditionWithinLifetime,
	v1alpha1.ConditionWithinBudget,
	v1alpha1.ConditionClustersAvailable,
	v1alpha1.ConditionGenesisReady,
	v1alpha1.ConditionMachinesTuned,
	v1alpha1.ConditionImageCompatible,
	v1alpha1.ConditionApplied,
	v1alpha1.ConditionNodesReady,
	v1alpha1.ConditionProducing,
	v1alpha1.ConditionTCPTuned,
	v1alpha1.ConditionUpdated,
}

// Ready sums up the others of a network's conditions: False when one of them
// is, Unknown when one of them is or is not there. What somebody has to change
// comes first. An update that waits for its height, as the spec asks, is told of
// and keeps no network from being ready: its nodes run what they are to until then.
// That all was well with another generation than the network's says nothing of this
// one.
func Ready(conditions []metav1.Condition, generation int64) metav1.Condition {
	if stalled := meta.FindStatusCondition(conditions, v1alpha1.ConditionStalled); stalled != nil {
		return condition.New(v1alpha1.ConditionReady, metav1.ConditionFalse, stalled.Reason, stalled.Message)
	}
	reason := v1alpha1.ReasonStarting
	if wasReady(conditions) {
		reason = v1alpha1.ReasonDegraded
	}
	if ended := meta.FindStatusCondition(conditions, v1alpha1.ConditionWithinLifetime); ended != nil &&
		ended.Status == metav1.ConditionFalse {
		// That is as it should be, and no degradation.
		reason = ended.Reason
	}
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		for _, kind := range decisive {
			found := ofGeneration(conditions, kind, generation)
			if found.Status == status && !AwaitsItsHeight(found) {
				return condition.New(v1alpha1.ConditionReady, status, reason, found.Message)
			}
		}
	}
	message := "the network runs as its spec says"
	if updated := meta.FindStatusCondition(conditions, v1alpha1.ConditionUpdated); AwaitsItsHeight(updated) {
		message = "the network runs as it is to until its update begins: " + updated.Message
	}
	return condition.New(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning, message)
}

// ofGeneration is a condition as far as it is known of that generation.
func ofGeneration(conditions []metav1.Condition, kind string, generation int64) *metav1.Condition {
	found := meta.FindStatusCondition(conditions, kind)
	if found == nil {
		return &metav1.Condition{Status: metav1.ConditionUnknown, Message: kind + " is not known yet"}
	}
	well := found.Status == metav1.ConditionTrue || AwaitsItsHeight(found)
	if well && found.ObservedGeneration != generation {
		return &metav1.Condition{Status: metav1.ConditionUnknown, Message: kind + " is not known yet of the spec as it is now"}
	}
	return found
}

// AwaitsItsHeight says whether a condition is of an update that is scheduled.
func AwaitsItsHeight(found *metav1.Condition) bool {
	return found != nil && found.Type == v1alpha1.ConditionUpdated && found.Status == metav1.ConditionFalse &&
		found.Reason == v1alpha1.ReasonAwaitingHeight
}

func wasReady(conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	return ready != nil && slices.Contains([]string{v1alpha1.ReasonRunning, v1alpha1.ReasonDegraded}, ready.Reason)
}
