// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"encoding/json"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// The hash is of what an object sets: it changes when something is no longer set,
// and not with the order of fields.
func TestPrepareTellsWhatIsNoLongerSet(t *testing.T) {
	t.Parallel()
	prepared := func(content string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(content), &object.Object); err != nil {
			t.Fatal(err)
		}
		wanted, err := Prepare(object)
		if err != nil {
			t.Fatal(err)
		}
		return wanted
	}
	before := prepared(`{"metadata": {"name": "a", "annotations": {"kept": "yes"}}, "spec": {"nodeSelector": {"region": "a", "type": "b"}}}`)
	after := prepared(`{"metadata": {"name": "a", "annotations": {"kept": "yes"}}, "spec": {"nodeSelector": {"region": "a"}}}`)
	again := prepared(`{"spec": {"nodeSelector": {"type": "b", "region": "a"}}, "metadata": {"annotations": {"kept": "yes"}, "name": "a"}}`)
	hash := before.GetAnnotations()[AnnotationApplied]
	if hash == "" || hash == after.GetAnnotations()[AnnotationApplied] {
		t.Errorf("an object that sets less has the hash %q as well", hash)
	}
	if got := again.GetAnnotations()[AnnotationApplied]; got != hash {
		t.Errorf("the same object has the hash %q, want %q", got, hash)
	}
	if before.GetAnnotations()["kept"] != "yes" {
		t.Errorf("an annotation is lost: %v", before.GetAnnotations())
	}
}

// A typed object says null of what it does not set, and has a status.
func TestPrune(t *testing.T) {
	t.Parallel()
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: appsv1.StatefulSetSpec{
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		t.Fatal(err)
	}
	content["nothing"] = map[string]any{"null": nil, "list": []any{map[string]any{"null": nil, "set": "yes"}}}
	prune(content)

	if want := map[string]any{"list": []any{map[string]any{"set": "yes"}}}; !reflect.DeepEqual(content["nothing"], want) {
		t.Errorf("what is left is %v, want %v", content["nothing"], want)
	}
	spec := content["spec"].(map[string]any)
	claim := spec["volumeClaimTemplates"].([]any)[0].(map[string]any)
	if _, ok := claim["status"]; ok {
		t.Error("the claim's template has a status")
	}
	if _, ok := spec["selector"]; ok {
		t.Errorf("null is left: %v", spec)
	}
}
