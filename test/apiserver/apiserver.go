// SPDX-License-Identifier: Apache-2.0

// Package apiserver runs the tests of a package with a real API server that
// serves the CRDs.
package apiserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/shardyard/shardyard/test/waiting"
)

// assets names the folder of kube-apiserver and etcd.
const assets = "KUBEBUILDER_ASSETS"

// New is an API server that is still to be started. It may take as long as anything on a
// busy machine for that, for what it serves, and to stop: what its library leaves it is too
// little beside other tests.
func New() *envtest.Environment {
	return &envtest.Environment{
		ControlPlaneStartTimeout: waiting.Patience,
		ControlPlaneStopTimeout:  waiting.Patience,
		CRDInstallOptions:        envtest.CRDInstallOptions{MaxTime: waiting.Patience},
	}
}

// InstallCRDs has an API server serve the kinds of a file.
func InstallCRDs(config *rest.Config, file string) error {
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		Paths: []string{file}, ErrorIfPathMissing: true, MaxTime: waiting.Patience,
	})
	return err
}

// Run starts an API server, has use take how to reach it, runs the tests and
// stops the server. It returns the exit code of the test program.
func Run(m *testing.M, use func(*rest.Config) error) int {
	return RunSeveral(m, 1, func(configs []*rest.Config) error { return use(configs[0]) })
}

// RunSeveral is like Run with several API servers that know nothing of each
// other.
func RunSeveral(m *testing.M, count int, use func([]*rest.Config) error) int {
	code, err := run(m, count, use)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 1
	}
	return code
}

func run(m *testing.M, count int, use func([]*rest.Config) error) (code int, err error) {
	if os.Getenv(assets) == "" {
		return 0, fmt.Errorf("%s is not set: it names the folder of kube-apiserver and etcd; "+
			"\"make test-go\" builds these and sets it", assets)
	}
	crds, err := crdFolder()
	if err != nil {
		return 0, err
	}
	configs := make([]*rest.Config, count)
	var group errgroup.Group
	for i := range configs {
		environment := New()
		environment.CRDDirectoryPaths, environment.ErrorIfCRDPathMissing = []string{crds}, true
		// A start that fails half-way leaves processes behind as well.
		defer func() { err = errors.Join(err, environment.Stop()) }()
		group.Go(func() (err error) {
			configs[i], err = environment.Start()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("start the API server: %w", err)
	}
	if err := use(configs); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// crdFolder finds the CRDs from the folder of the tests, somewhere in the tree.
func crdFolder() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the CRDs: %w", err)
	}
	for {
		crds := filepath.Join(folder, "config", "crd", "bases")
		if _, err := os.Stat(crds); err == nil {
			return crds, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", fmt.Errorf("no folder above %s has config/crd/bases", folder)
		}
		folder = parent
	}
}
