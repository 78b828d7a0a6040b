// SPDX-License-Identifier: Apache-2.0

// Package kubestatemetrics_test runs the configuration of kube-state-metrics
// through kube-state-metrics itself.
package kubestatemetrics_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	sigsyaml "sigs.k8s.io/yaml"
)

// resource is what the configuration says of ShardNetworks.
func resource(t *testing.T) customresourcestate.Resource {
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
	if len(config.Spec.Resources) != 1 {
		t.Fatalf("the configuration is about %d resources, want 1", len(config.Spec.Resources))
	}
	resource := config.Spec.Resources[0]
	// The two steps that kube-state-metrics takes between reading and using it.
	resource.ResourcePlural = "shardnetworks"
	for i := range resource.Metrics {
		resource.Metrics[i].Each.Type = metric.Type(strings.ToLower(string(resource.Metrics[i].Each.Type)))
	}
	return resource
}

// exposed is what kube-state-metrics exposes of a network.
func exposed(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var network unstructured.Unstructured
	if err := sigsyaml.Unmarshal(content, &network); err != nil {
		t.Fatal(err)
	}
	factory, err := customresourcestate.NewCustomResourceMetrics(resource(t))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, family := range factory.MetricFamilyGenerators() {
		text.Write(family.Generate(&network).ByteSlice())
	}
	return text.String()
}

func TestMetrics(t *testing.T) {
	for _, network := range []string{"running", "new"} {
		t.Run(network, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + network + ".prom")
			if err != nil {
				t.Fatal(err)
			}
			if got := exposed(t, "testdata/"+network+".yaml"); got != string(want) {
				t.Errorf("kube-state-metrics exposes\n%s\nwant\n%s", got, want)
			}
		})
	}
}
