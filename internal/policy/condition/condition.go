// SPDX-License-Identifier: Apache-2.0

package condition

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// New is a condition that has not been noted yet.
func New(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// Stalled is the condition Stalled of what stalls by a condition that is False for
// one of some reasons; nil when it is not.
func Stalled(cause *metav1.Condition, stalling ...string) *metav1.Condition {
	if cause.Status != metav1.ConditionFalse || !slices.Contains(stalling, cause.Reason) {
		return nil
	}
	stalled := New(v1alpha1.ConditionStalled, metav1.ConditionTrue, cause.Reason, cause.Message)
	return &stalled
}

// ApplyRefused is a resource of which the cluster refuses something that it needs.
func ApplyRefused(cause error) (reason, words string) {
	return v1alpha1.ReasonApplyFailed, wording.Quote(cause.Error())
}
