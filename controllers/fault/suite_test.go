// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/test/apiserver"
)

var (
	// apiServer says how to reach a real API server.
	apiServer *rest.Config
	scheme    = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	os.Exit(apiserver.Run(m, func(config *rest.Config) error {
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
			if err := add(scheme); err != nil {
				return fmt.Errorf("register types: %w", err)
			}
		}
		// A test acts for many others.
		config.QPS = -1
		apiServer = config
		return nil
	}))
}
