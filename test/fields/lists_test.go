// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// A list with one item for each of some names has room for all of them: a status with
// more would be refused as a whole.
func TestListsHaveRoomForEveryName(t *testing.T) {
	t.Parallel()
	definitions, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lists := 0
	for _, path := range definitions {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, definition); err != nil {
			t.Fatal(err)
		}
		for _, version := range definition.Spec.Versions {
			lists += checkLists(t, definition.Spec.Names.Kind, version.Schema.OpenAPIV3Schema)
		}
	}
	if lists == 0 {
		t.Error("no list has names for keys")
	}
}

// checkLists checks the lists at and below a path, and counts those whose keys are names.
func checkLists(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps) int {
	t.Helper()
	lists := 0
	for name, field := range schema.Properties {
		lists += checkLists(t, path+"."+name, &field)
	}
	if schema.Items == nil {
		return lists
	}
	item := schema.Items.Schema
	if len(schema.XListMapKeys) == 1 {
		names := item.Properties[schema.XListMapKeys[0]].Enum
		if len(names) > 0 {
			lists++
		}
		if schema.MaxItems != nil && *schema.MaxItems < int64(len(names)) {
			t.Errorf("%s has room for %d of %d: %s", path, *schema.MaxItems, len(names), names)
		}
	}
	return lists + checkLists(t, path+"[]", item)
}
