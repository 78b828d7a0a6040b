// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// ObjectsApplied is a network of which the cluster has all objects.
func ObjectsApplied(objects int) metav1.Condition {
	return condition(v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied,
		fmt.Sprintf("the cluster has all %d objects of the network", objects))
}

// ObjectsPending is a network whose genesis document comes first.
func ObjectsPending() metav1.Condition {
	return condition(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonObjectsPending,
		"the objects of the network wait for its genesis document")
}

// NameTaken is an object that the network needs and somebody else has.
func NameTaken(kind, name string) metav1.Condition {
	return condition(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonNameTaken, fmt.Sprintf(
		"the %s %s belongs to somebody else: delete it, wait until an earlier network of this name is gone, "+
			"or choose another name for the network", kind, name))
}

// ApplyFailed is an object that the cluster refuses; cause says which and why.
func ApplyFailed(cause error) metav1.Condition {
	return condition(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonApplyFailed, quote(cause.Error()))
}
