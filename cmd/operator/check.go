// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
)

// checkInterval is how often what is checked is looked at.
const checkInterval = 500 * time.Millisecond

// newCheckCommand is what helm test runs.
func newCheckCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "check",
		Short: "Check that an operator acts, or that a network finalises blocks",
	}
	command.AddCommand(newCheckOperatorCommand(), newCheckNetworkCommand())
	return command
}

func newCheckOperatorCommand() *cobra.Command {
	var namespaces []string
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "operator",
		Short: "Check that the operator of this namespace leads, and that the API server serves networks",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(command.Context(), timeout)
			defer cancel()
			cluster, err := checkClient(timeout)
			if err != nil {
				return err
			}
			if err := listNetworks(ctx, cluster, namespaces); err != nil {
				return fmt.Errorf("list networks: %w", err)
			}
			check := &leaderCheck{reader: cluster, namespace: os.Getenv("POD_NAMESPACE")}
			return await(ctx, command.OutOrStdout(), timeout, check.look)
		},
	}
	addTimeoutFlag(command, &timeout)
	command.Flags().StringArrayVar(&namespaces, "watch-namespace", nil,
		"namespace that the operator keeps the networks of; can be given several times (default all)")
	return command
}

// listNetworks asks for networks as the operator does: in some namespaces, or in all
// when there are none.
func listNetworks(ctx context.Context, reader client.Reader, namespaces []string) error {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		var networks v1alpha1.ShardNetworkList
		if err := reader.List(ctx, &networks, client.InNamespace(namespace), client.Limit(1)); err != nil {
			return err
		}
	}
	return nil
}

func newCheckNetworkCommand() *cobra.Command {
	var address string
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "network",
		Short: "Check that a network finalises blocks",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			node := chain.NewClient(address, chain.Admin{})
			defer node.Close()
			check := &blocksCheck{node: node}
			return await(command.Context(), command.OutOrStdout(), timeout, check.look)
		},
	}
	command.Flags().StringVar(&address, "address", "", "HOST:PORT of the HTTP API of the network's nodes")
	addTimeoutFlag(command, &timeout)
	if err := command.MarkFlagRequired("address"); err != nil {
		panic(err)
	}
	return command
}

func addTimeoutFlag(command *cobra.Command, timeout *time.Duration) {
	command.Flags().DurationVar(timeout, "timeout", 2*time.Minute, "how long it may take")
}

// checkClient is a client whose requests take no longer than timeout, also those for the
// kinds that are served, which the context of a call does not end.
func checkClient(timeout time.Duration) (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find cluster: %w", err)
	}
	config.Timeout = timeout
	return client.New(config, client.Options{Scheme: scheme})
}

// await looks again and again until what is checked holds, and prints how it was
// seen.
func await(ctx context.Context, out io.Writer, timeout time.Duration, look func(context.Context) (seen string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	retry := time.NewTicker(checkInterval)
	defer retry.Stop()
	var last error
	for {
		seen, err := look(ctx)
		if err == nil {
			_, err = fmt.Fprintln(out, seen)
			return err
		}
		// That the time is over while it looks says less than what it saw before.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", timeout, last)
		case <-retry.C:
		}
	}
}

// leaderCheck looks for an operator that keeps its lease: one that is renewed
// while it looks, whatever the clocks of the machines say.
type leaderCheck struct {
	reader    client.Reader
	namespace string
	first     *coordinationv1.LeaseSpec
}

func (c *leaderCheck) look(ctx context.Context) (string, error) {
	var lease coordinationv1.Lease
	if err := c.reader.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: leaderElectionID}, &lease); err != nil {
		return "", err
	}
	now := &lease.Spec
	switch {
	case now.HolderIdentity == nil || *now.HolderIdentity == "" || now.RenewTime == nil:
		return "", errors.New("no operator leads")
	case c.first == nil || *c.first.HolderIdentity != *now.HolderIdentity:
		c.first = now
	case now.RenewTime.After(c.first.RenewTime.Time):
		return fmt.Sprintf("the operator %s leads", *now.HolderIdentity), nil
	}
	return "", fmt.Errorf("the operator %s does not renew its lease", *now.HolderIdentity)
}

// blocksCheck looks for a block that is finalised while it looks.
type blocksCheck struct {
	node  *chain.Client
	first *chain.Status
}

func (c *blocksCheck) look(ctx context.Context) (string, error) {
	now, err := c.node.Status(ctx)
	switch {
	case err != nil:
		return "", err
	case c.first == nil:
		c.first = now
	case now.FinalizedHeight > c.first.FinalizedHeight:
		return fmt.Sprintf("network %s finalised height %d", now.Network, now.FinalizedHeight), nil
	}
	return "", fmt.Errorf("network %s stands at height %d", now.Network, now.FinalizedHeight)
}
