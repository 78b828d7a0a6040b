// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// list lists the objects of a kind as one version.
func (v *versions) list(
	ctx context.Context, definition *apiextensionsv1.CustomResourceDefinition, version string,
) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{
		Group: definition.Spec.Group, Version: version, Kind: definition.Spec.Names.ListKind,
	})
	err := v.List(ctx, list)
	return list.Items, err
}

func (v *versions) get(t *testing.T, version string, key client.ObjectKey) *unstructured.Unstructured {
	t.Helper()
	network := &unstructured.Unstructured{}
	network.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ShardNetwork").GroupKind().WithVersion(version))
	if err := v.Get(t.Context(), key, network); err != nil {
		t.Fatal(err)
	}
	return network
}

// createSamples creates every sample, each with a status.
func (v *versions) createSamples(t *testing.T) {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sample := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(content, &sample.Object); err != nil {
			t.Fatal(err)
		}
		sample.SetNamespace("default")
		sample.SetName("sample-" + sample.GetName())
		if err := v.Create(t.Context(), sample); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		conditions := []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Ready", "message": "all is well",
			"lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": int64(1),
		}}
		if err := unstructured.SetNestedSlice(sample.Object, conditions, "status", "conditions"); err != nil {
			t.Fatal(err)
		}
		if err := v.Status().Update(t.Context(), sample); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

// objects are all objects as one version, by kind and name, without what names
// the version and without what changes with every write.
func (v *versions) objects(t *testing.T, version string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for _, definition := range v.charts {
		kind := definition.Spec.Names.Kind
		items, err := v.list(t.Context(), definition, version)
		if err != nil {
			t.Fatal(err)
		}
		if len(items) == 0 {
			t.Errorf("there is no %s of %s", kind, version)
		}
		for _, item := range items {
			if got := item.GetAPIVersion(); got != definition.Spec.Group+"/"+version {
				t.Errorf("%s %s, read as %s, is of %s", kind, item.GetName(), version, got)
			}
			name := kind + " " + item.GetName()
			item.SetAPIVersion("")
			item.SetManagedFields(nil)
			item.SetResourceVersion("")
			found[name] = item.Object
		}
	}
	return found
}

// checkObjects makes sure that a version reads as what was read before.
func (v *versions) checkObjects(t *testing.T, version string, before map[string]map[string]any) {
	t.Helper()
	now := v.objects(t, version)
	if names := slices.Sorted(maps.Keys(now)); !slices.Equal(names, slices.Sorted(maps.Keys(before))) {
		t.Errorf("the objects of %s are %v", version, names)
	}
	for name, object := range now {
		if !reflect.DeepEqual(object, before[name]) {
			t.Errorf("as %s, %s is\n%v\nand was\n%v", version, name, object, before[name])
		}
	}
}

// checkStored makes sure that etcd holds every object as one version.
func (v *versions) checkStored(t *testing.T, version string) {
	t.Helper()
	group := v1alpha1.GroupVersion.Group
	stored := v.inEtcd(t, "/registry/"+group+"/")
	if len(stored) == 0 {
		t.Error("nothing is stored")
	}
	for key, apiVersion := range stored {
		if apiVersion != group+"/"+version {
			t.Errorf("%s is stored as %s, want %s", key, apiVersion, version)
		}
	}
}
