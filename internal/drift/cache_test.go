// SPDX-License-Identifier: Apache-2.0

package drift_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/internal/drift"
)

func TestKeepOwn(t *testing.T) {
	t.Parallel()
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: operation, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(`{}`),
		}
	}
	own := entry(manager, metav1.ManagedFieldsOperationApply, "")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry(somebody, metav1.ManagedFieldsOperationApply, ""),
		own,
		entry(manager, metav1.ManagedFieldsOperationUpdate, ""),
		entry(manager, metav1.ManagedFieldsOperationApply, "status"),
	}}}
	for range 2 {
		if _, err := drift.KeepOwn(manager)(pod); err != nil {
			t.Fatal(err)
		}
		if len(pod.ManagedFields) != 1 || pod.ManagedFields[0].String() != own.String() {
			t.Errorf("%v are kept, want %v", pod.ManagedFields, own)
		}
	}
}
