// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// ObjectsApplied is a network of which the clusters have all objects.
func ObjectsApplied(objects, clusters int) metav1.Condition {
	holder := "the cluster has"
	if clusters > 1 {
		holder = fmt.Sprintf("%d clusters have", clusters)
	}
	return condition.New(v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied,
		fmt.Sprintf("%s all %d objects of the network", holder, objects))
}

// ApplyUnknown is a network of which some clusters cannot be asked.
func ApplyUnknown(lost []LostCluster) metav1.Condition {
	return condition.New(v1alpha1.ConditionApplied, metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable,
		"nothing is known of the objects in "+namesOf(lost)+": see the condition ClustersAvailable")
}

// What objects wait for that are not made.
const (
	ForGenesis  = "its genesis document"
	ForBudget   = "a cost that is within its budget"
	ForLifetime = "a longer lifetime"
)

// ObjectsPending is a network whose objects wait for something.
func ObjectsPending(what string) metav1.Condition {
	return condition.New(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonObjectsPending,
		"the objects of the network wait for "+what)
}

// NameTaken is an object that the network needs and somebody else has.
func NameTaken(kind, name string) metav1.Condition {
	return condition.New(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonNameTaken, fmt.Sprintf(
		"the %s %s belongs to somebody else: delete it, or choose another name for the network", kind, name))
}

// PredecessorRemains is an object that the network needs and that is about to go
// with an earlier network of its name.
func PredecessorRemains(kind, name string) metav1.Condition {
	return condition.New(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonPredecessorRemains, fmt.Sprintf(
		"the %s %s is about to go with an earlier network of this name: the network waits until it is gone", kind, name))
}

// ApplyFailed is an object that the cluster refuses; cause says which and why.
func ApplyFailed(cause error) metav1.Condition {
	return condition.New(v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonApplyFailed, wording.Quote(cause.Error()))
}
