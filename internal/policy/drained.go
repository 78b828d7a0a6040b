// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// Drained says that machines of a network are drained, or are to be; empty when none is.
// Nothing that is measured begins then.
func Drained(network *v1alpha1.ShardNetwork) string {
	if kept := NotKept(network); kept != nil {
		return wording.Quote(kept.Message)
	}
	return ""
}

// LetGo says that nodes of a network may be evicted from their machines; empty when none
// may. What is measured would be blamed on something else. A drain that only waits takes
// nobody away.
func LetGo(network *v1alpha1.ShardNetwork) string {
	if kept := NotKept(network); kept != nil && kept.Reason == v1alpha1.ReasonDraining {
		return "machines of its network are drained: " + wording.Quote(kept.Message)
	}
	return ""
}

// NotKept is the condition of a network whose machines do not keep their validators; nil
// when they do.
func NotKept(network *v1alpha1.ShardNetwork) *metav1.Condition {
	kept := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionMachinesKept)
	if kept == nil || kept.Status != metav1.ConditionFalse {
		return nil
	}
	return kept
}
