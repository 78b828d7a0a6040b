// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Object is a part of a manifest.
type Object = map[string]any

// Without takes a field away where it is its value.
var Without = struct{}{}

// read reads the manifest with changes.
func (k *Kind[T]) read(t *testing.T, edits map[string]any) (T, error) {
	t.Helper()
	var whole Object
	if err := yaml.Unmarshal([]byte(k.Manifest), &whole); err != nil {
		t.Fatal(err)
	}
	// What is around a field is changed before the field.
	for _, path := range slices.Sorted(maps.Keys(edits)) {
		at, names := whole, strings.Split(path, ".")
		last := len(names) - 1
		for i, name := range names[:last] {
			name, inList := strings.CutSuffix(name, "[0]")
			if inList {
				list, ok := at[name].([]any)
				if !ok {
					t.Fatalf("there is no list %s to change", strings.Join(names[:i+1], "."))
				}
				at = list[0].(Object)
				continue
			}
			if at[name] == nil {
				at[name] = Object{}
			}
			at = at[name].(Object)
		}
		if edits[path] == Without {
			unstructured.RemoveNestedField(at, names[last])
			continue
		}
		// Whoever changes the manifest again changes no value of the table.
		content, err := json.Marshal(edits[path])
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(content, &value); err != nil {
			t.Fatal(err)
		}
		at[names[last]] = value
	}
	content, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return k.Read(t, content)
}

// leaves are the values of all fields of a spec, by their paths without places in
// lists.
func (k *Kind[T]) leaves(t *testing.T, of T) map[string]string {
	t.Helper()
	content, err := json.Marshal(k.Spec(of))
	if err != nil {
		t.Fatal(err)
	}
	var spec any
	if err := json.Unmarshal(content, &spec); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	addLeaves(found, k.fields(t), "spec", spec)
	return found
}

func addLeaves(found map[string]string, known map[string]*Schema, path string, value any) {
	items, isList := value.([]any)
	parts, isObject := value.(Object)
	switch {
	case known[path] != nil:
		found[path] += fmt.Sprint(value) + "\n"
	case isList:
		for _, item := range items {
			addLeaves(found, known, path+"[]", item)
		}
	case isObject:
		for name, part := range parts {
			addLeaves(found, known, path+"."+name, part)
		}
	}
}

// different are the keys whose values differ.
func different[K ~string](before, after map[K]string) []K {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var found []K
	for key := range all {
		if before[key] != after[key] {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found
}
