// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CheckCondition fails a test unless a condition has a status and a reason, and says
// some words.
func CheckCondition(t *testing.T, got metav1.Condition, status metav1.ConditionStatus, reason, message string) {
	t.Helper()
	if got.Status != status || got.Reason != reason || !strings.Contains(got.Message, message) {
		t.Errorf("the condition is %s, %s: %q; want %s, %s, and that it says %q",
			got.Status, got.Reason, got.Message, status, reason, message)
	}
}
