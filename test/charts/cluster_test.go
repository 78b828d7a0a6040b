// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// cluster is a real API server, without anything that acts on what it holds.
type cluster struct {
	client.Client
	helm
	config *rest.Config
}

func startCluster(t *testing.T) cluster {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: make test-charts sets it")
	}
	environment := &envtest.Environment{}
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
	return cluster{Client: reader, helm: newHelm(t, environment.KubeConfig), config: config}
}

// installOperator installs the operator's chart and waits until the API server
// serves its CRDs.
func (c cluster) installOperator(t *testing.T, chart string, arguments ...string) {
	t.Helper()
	c.mustRun(t, append([]string{"install", "op", chart}, arguments...)...)
	definitions := []*apiextensionsv1.CustomResourceDefinition{c.definition(t)}
	options := envtest.CRDInstallOptions{MaxTime: time.Minute, PollInterval: 100 * time.Millisecond}
	if err := envtest.WaitForCRDs(c.config, definitions, options); err != nil {
		t.Fatal(err)
	}
}
