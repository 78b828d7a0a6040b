// SPDX-License-Identifier: Apache-2.0

package shardnetwork

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

// decode reads what is written the way the cluster's objects are.
func decode(t *testing.T, content string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := json.Unmarshal([]byte(content), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestUpToDate(t *testing.T) {
	t.Parallel()
	const wanted = `{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a", "labels": {"x": "1"}},
		"spec": {"ports": [{"name": "p2p", "port": 1}, {"name": "http", "port": 2}], "args": ["run"], "empty": {}, "none": []}}`
	cases := map[string]struct {
		live string
		want bool
	}{
		"the same": {wanted, true},
		"from the cache, without its kind": {
			`{"metadata": {"name": "a", "labels": {"x": "1"}},
			"spec": {"ports": [{"name": "p2p", "port": 1}, {"name": "http", "port": 2}], "args": ["run"]}}`, true,
		},
		"defaults and what others add": {
			`{"metadata": {"name": "a", "uid": "1", "labels": {"x": "1", "y": "2"}, "annotations": {"z": "3"}}, "status": {"ready": true},
			"spec": {"ports": [{"name": "p2p", "port": 1, "protocol": "TCP"}, {"name": "http", "port": 2, "protocol": "TCP"}],
			"args": ["run"], "type": "ClusterIP"}}`, true,
		},
		"another value": {
			`{"metadata": {"name": "a", "labels": {"x": "2"}},
			"spec": {"ports": [{"name": "p2p", "port": 1}, {"name": "http", "port": 2}], "args": ["run"]}}`, false,
		},
		"a field is gone": {
			`{"metadata": {"name": "a"},
			"spec": {"ports": [{"name": "p2p", "port": 1}, {"name": "http", "port": 2}], "args": ["run"]}}`, false,
		},
		"an item is gone": {
			`{"metadata": {"name": "a", "labels": {"x": "1"}}, "spec": {"ports": [{"name": "p2p", "port": 1}], "args": ["run"]}}`, false,
		},
		"an item is added": {
			`{"metadata": {"name": "a", "labels": {"x": "1"}},
			"spec": {"ports": [{"name": "p2p", "port": 1}, {"name": "http", "port": 2}], "args": ["run", "--debug"]}}`, false,
		},
		"items in another order": {
			`{"metadata": {"name": "a", "labels": {"x": "1"}},
			"spec": {"ports": [{"name": "http", "port": 2}, {"name": "p2p", "port": 1}], "args": ["run"]}}`, false,
		},
		"another kind of value": {
			`{"metadata": {"name": "a", "labels": {"x": "1"}}, "spec": {"ports": "none", "args": ["run"]}}`, false,
		},
		"an empty list is filled": {
			`{"metadata": {"name": "a", "labels": {"x": "1"}},
			"spec": {"ports": [{"name": "p2p", "port": 1}, {"name": "http", "port": 2}], "args": ["run"], "none": ["some"]}}`, false,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{Object: decode(t, wanted)}
			if got := upToDate(object, decode(t, test.live)); got != test.want {
				t.Errorf("it is up to date: %v, want %v", got, test.want)
			}
		})
	}
}

// What is no longer set must be applied, so that the cluster unsets it, though
// nothing that is wanted is missing.
func TestSignTellsWhatIsNoLongerSet(t *testing.T) {
	t.Parallel()
	signed := func(content string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{Object: decode(t, content)}
		if err := sign(object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	before := signed(`{"metadata": {"name": "a", "annotations": {"kept": "yes"}}, "spec": {"nodeSelector": {"region": "a", "type": "b"}}}`)
	after := signed(`{"metadata": {"name": "a", "annotations": {"kept": "yes"}}, "spec": {"nodeSelector": {"region": "a"}}}`)
	if upToDate(after, before.Object) {
		t.Error("an object with more than is wanted counts as up to date")
	}
	if before.GetAnnotations()["kept"] != "yes" {
		t.Errorf("signing lost an annotation: %v", before.GetAnnotations())
	}
	again := signed(`{"spec": {"nodeSelector": {"type": "b", "region": "a"}}, "metadata": {"annotations": {"kept": "yes"}, "name": "a"}}`)
	if !upToDate(again, before.Object) {
		t.Error("the same object counts as out of date")
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
