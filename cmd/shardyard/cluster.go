// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
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
	complete(command, "context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		known, err := f.rules().Load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.Sorted(maps.Keys(known.Contexts)), cobra.ShellCompDirectiveNoFileComp
	})
}

// rules say where a kubeconfig is found.
func (f *clusterFlags) rules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	return rules
}

// config says how to reach the cluster, and which namespace its user works in.
func (f *clusterFlags) config() (config *rest.Config, namespace string, err error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(f.rules(), &clientcmd.ConfigOverrides{CurrentContext: f.context})
	if config, err = loader.ClientConfig(); err == nil {
		namespace, _, err = loader.Namespace()
	}
	if err != nil {
		return nil, "", fmt.Errorf("find cluster: %w", err)
	}
	return config, namespace, nil
}

func (f *clusterFlags) client() (client.Client, error) {
	config, _, err := f.config()
	if err != nil {
		return nil, err
	}
	return newClient(config)
}

func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	return client.New(config, client.Options{Scheme: scheme})
}
