// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTrimMachine(t *testing.T) {
	t.Parallel()
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "silent"}
	kept := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "machine-0", UID: "1", ResourceVersion: "2"},
		Spec:       corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{{Key: "a"}}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{ready}},
	}
	machine := kept.DeepCopy()
	machine.Labels, machine.Annotations = map[string]string{"a": "b"}, map[string]string{"a": "b"}
	machine.Spec.ProviderID = "a"
	machine.Status.Conditions = append([]corev1.NodeCondition{{Type: corev1.NodeMemoryPressure}}, machine.Status.Conditions...)
	machine.Status.Images = []corev1.ContainerImage{{Names: []string{"a"}}}
	trimmed, err := TrimMachine(machine)
	if err != nil || !reflect.DeepEqual(trimmed, &kept) {
		t.Errorf("of the machine %+v is kept, want %+v (%v)", trimmed, &kept, err)
	}
	// What a cache has of an object whose end it missed.
	if other, err := TrimMachine(&corev1.Pod{}); err != nil || !reflect.DeepEqual(other, &corev1.Pod{}) {
		t.Errorf("of a pod is kept %+v (%v)", other, err)
	}
}
