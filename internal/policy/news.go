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
	if then == nil && !newsOfNewNetwork(now) {
		return "", false
	}
	if now.Status == metav1.ConditionFalse || now.Reason == v1alpha1.ReasonLifetimeEnding {
		return corev1.EventTypeWarning, true
	}
	return corev1.EventTypeNormal, true
}

// newsOfNewNetwork leaves out that something is not there yet, or not asked for.
func newsOfNewNetwork(now *metav1.Condition) bool {
	if slices.Contains([]string{v1alpha1.ConditionWithinLifetime, v1alpha1.ConditionWithinBudget}, now.Type) {
		return now.Reason != v1alpha1.ReasonNoLifetime && now.Reason != v1alpha1.ReasonNoBudget
	}
	return now.Status == metav1.ConditionTrue
}
