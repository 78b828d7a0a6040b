// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// News says whether a condition that was another one before, or nil, is worth an
// event, and of which type.
func News(then, now *metav1.Condition) (kind string, worth bool) {
	if then != nil && then.Status == now.Status && then.Reason == now.Reason {
		return "", false
	}
	if now.Type == v1alpha1.ConditionStalled {
		// The condition that is the cause says the same.
		return "", false
	}
	if then == nil && !newsOfNewNetwork(now) {
		return "", false
	}
	if now.Type == v1alpha1.ConditionKeepingUp && !newsOfNodesBehind(then, now) {
		return "", false
	}
	if now.Status == metav1.ConditionFalse && !AwaitsItsHeight(now) || now.Reason == v1alpha1.ReasonLifetimeEnding {
		return corev1.EventTypeWarning, true
	}
	return corev1.EventTypeNormal, true
}

// newsOfNodesBehind leaves out that nodes are not judged for a time, or again, and
// what has an event of its own: that one is started again.
func newsOfNodesBehind(then, now *metav1.Condition) bool {
	if now.Status == metav1.ConditionFalse {
		return now.Reason != v1alpha1.ReasonNodeRestarted
	}
	return now.Status == metav1.ConditionTrue && then != nil && then.Status == metav1.ConditionFalse
}

// notAsked are the reasons of what is so unless somebody asks for something.
var notAsked = []string{v1alpha1.ReasonNoLifetime, v1alpha1.ReasonNoBudget, v1alpha1.ReasonNothingDrained}

// newsOfNewNetwork leaves out that something is not there yet, or not asked for.
func newsOfNewNetwork(now *metav1.Condition) bool {
	switch now.Type {
	case v1alpha1.ConditionWithinLifetime, v1alpha1.ConditionWithinBudget, v1alpha1.ConditionMachinesKept:
		return !slices.Contains(notAsked, now.Reason)
	default:
		return now.Status == metav1.ConditionTrue
	}
}
