// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Effect is something that is made of a spec.
type Effect string

// Kind is a kind of the API, and what is made of its specs.
type Kind[T any] struct {
	// Definition is the CustomResourceDefinition, a file of config/crd/bases.
	Definition string
	// Manifest says something about everything.
	Manifest string
	// Read reads a manifest as the API server would, defaults included.
	Read func(t *testing.T, content []byte) (T, error)
	// Spec is the spec of what was read.
	Spec func(T) any
	// Effects are all that is made of it, as text to compare.
	Effects func(*testing.T, T) map[Effect]string
	// Changes are, of every field, a change and what it changes.
	Changes map[string]Change
	// Parts are paths of what has the fields of another kind: what becomes of them is
	// in the table of that kind, and that all of them arrive there is tested elsewhere.
	Parts []string
}

// Schema is what the definition says of a field.
type Schema = apiextensionsv1.JSONSchemaProps

// fields are the fields of the spec that are not made of others, by their paths; those
// of the items of a list have [] behind the list.
func (k *Kind[T]) fields(t *testing.T) map[string]*Schema {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", k.Definition))
	if err != nil {
		t.Fatal(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, definition); err != nil {
		t.Fatal(err)
	}
	found := map[string]*Schema{}
	spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	k.addFields(found, "spec", &spec)
	return found
}

func (k *Kind[T]) addFields(found map[string]*Schema, path string, schema *Schema) {
	switch {
	case slices.Contains(k.Parts, path):
	case schema.Type == "array" && len(schema.Items.Schema.Properties) > 0:
		k.addFields(found, path+"[]", schema.Items.Schema)
	case len(schema.Properties) > 0:
		for name, field := range schema.Properties {
			k.addFields(found, path+"."+name, &field)
		}
	default:
		found[path] = schema
	}
}

// inManifest is the path of a field of the first item of each list.
func inManifest(field string) string { return strings.ReplaceAll(field, "[]", "[0]") }

// Text is something as text to compare.
func Text(t *testing.T, value any) string {
	t.Helper()
	content, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
