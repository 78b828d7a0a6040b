// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"net/url"
	"os"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/test/apiserver"
	"github.com/shardyard/shardyard/test/waiting"
)

// cluster is a real API server, without anything that acts on what it holds.
type cluster struct {
	client.Client
	helm
	config *rest.Config
	// Where its etcd answers.
	etcd *url.URL
}

func startCluster(t *testing.T) cluster {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: make test-charts sets it")
	}
	environment := apiserver.New()
	// A start that fails half-way leaves processes behind as well.
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stop the API server: %v", err)
		}
	})
	config, err := environment.Start()
	if err != nil {
		t.Fatalf("start the API server: %v", err)
	}
	// What a wait says at its end is what is missing, not that it may not ask.
	config.QPS = -1

	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := client.New(config, client.Options{Scheme: known})
	if err != nil {
		t.Fatal(err)
	}
	return cluster{
		Client: reader, helm: newHelm(t, environment.KubeConfig), config: config, etcd: environment.ControlPlane.Etcd.URL,
	}
}

// installOperator installs the operator's chart and waits until the API server
// serves each of its CRDs: it answers for a moment that it sets up their storage,
// and then does not remove them either (it tries again after up to five minutes).
func (c cluster) installOperator(t *testing.T, chart string, arguments ...string) {
	t.Helper()
	c.mustRun(t, append([]string{"install", "op", chart}, arguments...)...)
	var installed apiextensionsv1.CustomResourceDefinitionList
	if err := c.List(t.Context(), &installed); err != nil {
		t.Fatal(err)
	}
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, len(installed.Items))
	for i := range installed.Items {
		definitions[i] = &installed.Items[i]
	}
	options := envtest.CRDInstallOptions{MaxTime: waiting.Patience, PollInterval: 100 * time.Millisecond}
	if err := envtest.WaitForCRDs(c.config, definitions, options); err != nil {
		t.Fatal(err)
	}
	for _, definition := range definitions {
		c.awaitStorage(t, definition)
	}
}

// awaitStorage waits until objects of a kind can be listed.
func (c cluster) awaitStorage(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	var objects metav1.PartialObjectMetadataList
	objects.SetGroupVersionKind(schema.GroupVersionKind{
		Group:   definition.Spec.Group,
		Version: definition.Spec.Versions[0].Name,
		Kind:    definition.Spec.Names.ListKind,
	})
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = c.List(ctx, &objects)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("list objects of %s: %v: %v", definition.Name, err, last)
	}
}
