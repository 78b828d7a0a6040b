// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/internal/joining"
)

const joinLong = `Let networks in the operator's cluster use other clusters for their regions.

In each of them this makes an account of the operator, which may do there what a network
needs and no more, and in the operator's own cluster, beside the networks, a Secret with
the name of the region that holds how to reach it. Whoever runs it has to have the right
to make roles in every cluster. Run it again to make anew what it made.

Clusters are named by contexts of the kubeconfig, each with the domain of its DNS names,
or by the outputs of Terraform.`

// joinOptions say which clusters to join to which.
type joinOptions struct {
	home      clusterFlags
	namespace string
	outputs   joining.Outputs
}

func newJoinCommand() *cobra.Command {
	var options joinOptions
	command := &cobra.Command{
		Use:   "join (--terraform FILE | NAME=CONTEXT,DOMAIN...)",
		Short: "Let networks in the operator's cluster use other clusters",
		Long:  joinLong,
		Example: "  shardyard join us-east1=CONTEXT,DOMAIN us-east4=CONTEXT,DOMAIN\n" +
			"  terraform -chdir=terraform output -json | shardyard join --terraform -",
		RunE: options.run,
	}
	options.home.add(command)
	flags := command.Flags()
	flags.StringVarP(&options.namespace, "namespace", "n", metav1.NamespaceDefault,
		"namespace of the networks, of the same name in all clusters")
	flags.StringVar(&options.outputs.File, "terraform", "", "file with what terraform output -json prints; - for standard input")
	flags.StringVar(&options.outputs.Home, "home", "",
		"with --terraform: region of the operator's own cluster (default that of the output home_region)")
	flags.StringVar(&options.outputs.TokenCommand, "token-command", "gcloud auth print-access-token",
		"with --terraform: command that prints a token which may make accounts and roles in the clusters")
	return command
}

// run joins every cluster, one after the other.
func (o *joinOptions) run(command *cobra.Command, arguments []string) error {
	// What the libraries would say is in the errors.
	ctrl.SetLogger(logr.Discard())
	members, err := o.members(command, arguments)
	if err != nil {
		return err
	}
	home, _, err := o.home.config()
	if err != nil {
		return fmt.Errorf("the operator's own cluster: %w", err)
	}
	return joining.All(command.Context(), home, o.namespace, members, func(member *joining.Member) {
		fmt.Fprintf(command.OutOrStdout(), "joined %s: Secret %s in namespace %s, names in %s\n",
			member.Name, member.Name, o.namespace, member.Domain)
	})
}

// members are the clusters that the command line names.
func (o *joinOptions) members(command *cobra.Command, arguments []string) ([]joining.Member, error) {
	switch {
	case (o.outputs.File == "") == (len(arguments) == 0):
		return nil, errors.New("name the clusters as NAME=CONTEXT,DOMAIN, or with --terraform")
	case o.outputs.File == "" && (command.Flags().Changed("home") || command.Flags().Changed("token-command")):
		return nil, errors.New("--home and --token-command go with --terraform")
	case o.outputs.File == "":
		return joining.OfContexts(o.home.rules(), arguments)
	default:
		return o.outputs.Members(command.Context(), command.InOrStdin(), command.ErrOrStderr())
	}
}
