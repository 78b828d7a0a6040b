// SPDX-License-Identifier: Apache-2.0

// Command join-clusters lets the operator's cluster use others for the regions
// of networks: it makes an account of the operator in each, with no more rights
// than config/member says, and beside the networks a Secret that holds how to
// reach it.
//
// Clusters come from contexts of the kubeconfig:
//
//	go run ./hack/join-clusters us-east4=CONTEXT,DOMAIN...
//
// or from Terraform's outputs, with the caller's Google Cloud credentials:
//
//	terraform output -json | go run ./hack/join-clusters --terraform -
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	if err := newCommand().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	kubeconfig   string
	context      string
	namespace    string
	terraform    string
	home         string
	tokenCommand string
}

func newCommand() *cobra.Command {
	var options options
	command := &cobra.Command{
		Use:           "join-clusters [flags] (--terraform FILE | NAME=CONTEXT,DOMAIN...)",
		Short:         "Let networks in the operator's cluster use other clusters",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments, command.InOrStdin(), command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.kubeconfig, "kubeconfig", "", "kubeconfig of all contexts; as of kubectl when empty")
	flags.StringVar(&options.context, "context", "", "context of the operator's own cluster; the current one when empty")
	flags.StringVarP(&options.namespace, "namespace", "n", metav1.NamespaceDefault,
		"namespace of the networks, of the same name in all clusters")
	flags.StringVar(&options.terraform, "terraform", "", "file with what terraform output -json prints; - for standard input")
	flags.StringVar(&options.home, "home", "",
		"with --terraform: region of the operator's own cluster; that of the output home_region when empty")
	flags.StringVar(&options.tokenCommand, "token-command", "gcloud auth print-access-token",
		"with --terraform: command that prints a token which may make accounts and roles in the clusters")
	return command
}

// run joins every cluster, one after the other.
func (o *options) run(ctx context.Context, arguments []string, input io.Reader, output io.Writer) error {
	members, err := o.members(ctx, arguments, input)
	if err != nil {
		return err
	}
	config, err := o.contextConfig(o.context)
	if err != nil {
		return fmt.Errorf("the operator's own cluster: %w", err)
	}
	home, err := newClient(config)
	if err != nil {
		return fmt.Errorf("the operator's own cluster: %w", err)
	}
	if err := ensureNamespace(ctx, home, o.namespace); err != nil {
		return fmt.Errorf("the operator's own cluster: %w", err)
	}
	for _, member := range members {
		if err := member.join(ctx, home, o.namespace); err != nil {
			return fmt.Errorf("join %s: %w", member.name, err)
		}
		fmt.Fprintf(output, "joined %s: Secret %s in namespace %s, names in %s\n", member.name, member.name, o.namespace, member.domain)
	}
	return nil
}
