// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

var (
	// apiServer says how to reach a real API server.
	apiServer *rest.Config
	scheme    = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	code, err := runWithAPIServer(m)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func runWithAPIServer(m *testing.M) (code int, err error) {
	const assets = "KUBEBUILDER_ASSETS"
	if os.Getenv(assets) == "" {
		return 0, fmt.Errorf("%s is not set: it names the folder of kube-apiserver and etcd; "+
			"\"make test-go\" builds these and sets it", assets)
	}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return 0, fmt.Errorf("register types: %w", err)
		}
	}

	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	// A start that fails half-way leaves processes behind as well.
	defer func() { err = errors.Join(err, environment.Stop()) }()
	if err != nil {
		return 0, fmt.Errorf("start the API server: %w", err)
	}
	apiServer = config
	return m.Run(), nil
}
