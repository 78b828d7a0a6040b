// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/test/apiserver"
)

var (
	// apiServer says how to reach a real API server.
	apiServer *rest.Config
	// networks is the client of its ShardNetworks.
	networks dynamic.ResourceInterface
)

func TestMain(m *testing.M) {
	os.Exit(apiserver.Run(m, func(config *rest.Config) error {
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("make a client: %w", err)
		}
		apiServer = config
		networks = client.Resource(v1alpha1.GroupVersion.WithResource("shardnetworks")).Namespace("default")
		return nil
	}))
}
