// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/test/apiserver"
)

// checkInstall applies the one file to a new API server, as kubectl apply
// --server-side does.
func checkInstall(t *testing.T, path, version string) {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: make test-release sets it")
	}
	environment := apiserver.New()
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stop the API server: %v", err)
		}
	})
	config, err := environment.Start()
	if err != nil {
		t.Fatalf("start the API server: %v", err)
	}
	cluster, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	definitions, policies := 0, 0
	for _, object := range objects(t, path) {
		if err := cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl")); err != nil {
			t.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}
		switch object.GetKind() {
		case "CustomResourceDefinition":
			definitions++
		case "ValidatingAdmissionPolicyBinding":
			policies++
		}
	}
	if definitions != 5 || policies != 2 {
		t.Errorf("the file has %d CRDs and %d policies, want 5 and 2", definitions, policies)
	}
	var operator appsv1.Deployment
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: "shardyard-system", Name: "shardyard"}, &operator); err != nil {
		t.Fatal(err)
	}
	if got, want := operator.Spec.Template.Spec.Containers[0].Image, "ghcr.io/shardyard/operator:"+version; got != want {
		t.Errorf("the operator's image is %s, want %s", got, want)
	}
	network := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shardyard.dev/v1alpha1", "kind": "ShardNetwork",
		"metadata": map[string]any{"namespace": "default", "name": "first"},
		"spec": map[string]any{
			"shards": int64(1), "producersPerShard": int64(1),
			"regions": []any{map[string]any{"name": "local", "nodes": int64(1)}},
			"genesis": map[string]any{"accountsPerShard": int64(10)},
		},
	}}
	eventually(t, "the API server takes a network", func() error {
		return cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(network), client.FieldOwner("kubectl"))
	})
}

// objects are what a file of YAML holds, in its order.
func objects(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content))
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) > 0 {
			found = append(found, object)
		}
	}
}

// eventually waits until something does not fail any more.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.NewTimer(2 * time.Minute)
	defer deadline.Stop()
	retry := time.NewTicker(100 * time.Millisecond)
	defer retry.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("%s: %v", what, err)
		case <-retry.C:
		}
	}
}
