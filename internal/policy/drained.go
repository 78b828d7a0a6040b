// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// drained says that machines of a network are drained, or are to be; empty when none is.
// Nothing that is measured begins then.
func drained(network *v1alpha1.ShardNetwork) string {
	if kept := notKept(network); kept != nil {
		return quote(kept.Message)
	}
	return ""
}

// letGo says that nodes of a network may be evicted from their machines; empty when none
// may. What is measured would be blamed on something else. A drain that only waits takes
// nobody away.
func letGo(network *v1alpha1.ShardNetwork) string {
	if kept := notKept(network); kept != nil && kept.Reason == v1alpha1.ReasonDraining {
		return "machines of its network are drained: " + quote(kept.Message)
	}
	return ""
}

// notKept is the condition of a network whose machines do not keep their validators; nil
// when they do.
func notKept(network *v1alpha1.ShardNetwork) *metav1.Condition {
	kept := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionMachinesKept)
	if kept == nil || kept.Status != metav1.ConditionFalse {
		return nil
	}
	return kept
}
