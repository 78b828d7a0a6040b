// SPDX-License-Identifier: Apache-2.0

package kubestatemetrics_test

import (
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// schema is as much of an OpenAPI schema as paths need.
type schema struct {
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
}

// at is the schema of a field, or of the items of a list; nil if there is no
// such field.
func (s *schema) at(path []string) *schema {
	for _, name := range path {
		if s = s.Properties[name]; s == nil {
			return nil
		}
		if s.Items != nil {
			s = s.Items
		}
	}
	return s
}

func schemaOf(t *testing.T, plural string) *schema {
	t.Helper()
	content, err := os.ReadFile("../../config/crd/bases/shardyard.dev_" + plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string `json:"name"`
				Schema struct {
					OpenAPI *schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(content, &definition); err != nil {
		t.Fatal(err)
	}
	for _, version := range definition.Spec.Versions {
		if version.Name == resource(t, plural).GroupVersionKind.Version {
			return version.Schema.OpenAPI
		}
	}
	t.Fatal("the CRD has no such version")
	return nil
}

// A metric of a field that a kind does not have would never appear, and
// nobody would be told.
func TestPathsAreInTheAPI(t *testing.T) {
	for _, plural := range plurals {
		t.Run(plural, func(t *testing.T) { checkPaths(t, plural) })
	}
}

func checkPaths(t *testing.T, plural string) {
	t.Helper()
	api := schemaOf(t, plural)
	check := func(name string, path ...string) {
		t.Helper()
		if path[0] != "metadata" && api.at(path) == nil {
			t.Errorf("%s reads %v, which %s do not have", name, path, plural)
		}
	}
	for _, metric := range resource(t, plural).Metrics {
		each := metric.Each
		switch {
		case each.Gauge != nil:
			check(metric.Name, each.Gauge.Path...)
		case each.Info != nil:
			for _, label := range each.Info.LabelsFromPath {
				check(metric.Name, slices.Concat(each.Info.Path, label)...)
			}
		case each.StateSet != nil:
			check(metric.Name, slices.Concat(each.StateSet.Path, each.StateSet.ValueFrom)...)
			for _, label := range each.StateSet.LabelsFromPath {
				check(metric.Name, slices.Concat(each.StateSet.Path, label)...)
			}
		default:
			t.Errorf("%s is of type %s, whose paths this test does not know", metric.Name, each.Type)
		}
	}
}
