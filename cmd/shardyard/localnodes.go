// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/local/running"
)

// localNodesFlags say which nodes of which network of this machine a command is about.
type localNodesFlags struct {
	nodes    []string
	network  string
	stateDir string
}

func (f *localNodesFlags) add(command *cobra.Command) {
	command.Flags().StringSliceVar(&f.nodes, "node", nil, "name of a node, which can be repeated (default all that run)")
	addNetworkFlags(command, &f.network, &f.stateDir)
	complete(command, "node", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		folder, err := stateDirOr(f.stateDir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := running.NodeNames(folder, f.network)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// find finds the nodes, and the name of their network.
func (f *localNodesFlags) find() (string, []running.Node, error) {
	stateDir, err := stateDirOr(f.stateDir)
	if err != nil {
		return "", nil, err
	}
	network, clients, err := running.FindNodes(stateDir, f.network, f.nodes)
	if err != nil {
		return "", nil, fmt.Errorf("find nodes: %w", err)
	}
	return network, clients, nil
}
