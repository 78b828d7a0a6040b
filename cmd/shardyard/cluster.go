// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// clusterFlags say which cluster a command is about, as those of kubectl do.
type clusterFlags struct {
	kubeconfig string
	context    string
}

func (f *clusterFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "file that says how to reach clusters (default $KUBECONFIG or ~/.kube/config)")
	command.Flags().StringVar(&f.context, "context", "", "context of the kubeconfig (default its current one)")
}

func (f *clusterFlags) client() (client.Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: f.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find cluster: %w", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	return client.New(config, client.Options{Scheme: scheme})
}
