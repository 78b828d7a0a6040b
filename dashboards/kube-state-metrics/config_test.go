// SPDX-License-Identifier: Apache-2.0

// Package kubestatemetrics_test runs the configuration of kube-state-metrics
// through kube-state-metrics itself.
package kubestatemetrics_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	sigsyaml "sigs.k8s.io/yaml"
)

// plurals are the kinds that the configuration is about, in its order.
var plurals = []string{"shardnetworks", "benchmarks", "benchmarkschedules", "faults"}

// resource is what the configuration says of a kind.
func resource(t *testing.T, plural string) customresourcestate.Resource {
	t.Helper()
	content, err := os.ReadFile("config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Kind                        string
		customresourcestate.Metrics `yaml:",inline"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	if len(config.Spec.Resources) != len(plurals) {
		t.Fatalf("the configuration is about %d resources, want %d", len(config.Spec.Resources), len(plurals))
	}
	resource := config.Spec.Resources[slices.Index(plurals, plural)]
	if kind := strings.ToLower(resource.GroupVersionKind.Kind) + "s"; kind != plural {
		t.Fatalf("in the place of %s, the configuration has %s", plural, kind)
	}
	// The two steps that kube-state-metrics takes between reading and using it.
	resource.ResourcePlural = plural
	for i := range resource.Metrics {
		resource.Metrics[i].Each.Type = metric.Type(strings.ToLower(string(resource.Metrics[i].Each.Type)))
	}
	return resource
}

// exposed is what kube-state-metrics exposes of an object.
func exposed(t *testing.T, plural, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var object unstructured.Unstructured
	if err := sigsyaml.Unmarshal(content, &object); err != nil {
		t.Fatal(err)
	}
	factory, err := customresourcestate.NewCustomResourceMetrics(resource(t, plural))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, family := range factory.MetricFamilyGenerators() {
		text.Write(family.Generate(&object).ByteSlice())
	}
	return text.String()
}

func TestMetrics(t *testing.T) {
	for name, plural := range map[string]string{
		"running": "shardnetworks", "new": "shardnetworks", "regressed": "benchmarks", "nightly": "benchmarkschedules",
		"measured": "faults", "waiting": "faults",
	} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + name + ".prom")
			if err != nil {
				t.Fatal(err)
			}
			if got := exposed(t, plural, "testdata/"+name+".yaml"); got != string(want) {
				t.Errorf("kube-state-metrics exposes\n%s\nwant\n%s", got, want)
			}
		})
	}
}
