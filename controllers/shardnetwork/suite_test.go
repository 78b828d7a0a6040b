// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/test/apiserver"
)

var (
	// apiServer says how to reach a real API server, and memberServer another one,
	// for what networks have in a further cluster.
	apiServer, memberServer *rest.Config
	scheme                  = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	os.Exit(apiserver.RunSeveral(m, 2, func(configs []*rest.Config) error {
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
			if err := add(scheme); err != nil {
				return fmt.Errorf("register types: %w", err)
			}
		}
		ctrl.SetLogger(logr.Discard())
		apiServer, memberServer = configs[0], configs[1]
		return nil
	}))
}
