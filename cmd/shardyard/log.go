// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/running"
)

const logLong = `Say what nodes of a network that runs on this machine log, or with --level set it
while they run. A node logs events of its level and of more severe ones. It has the
level of its manifest again when it is started again.`

func newLogCommand() *cobra.Command {
	var nodes localNodesFlags
	var level string
	command := &cobra.Command{
		Use:     "log [--level LEVEL]",
		Short:   "Say or set what nodes of a network of this machine log",
		Long:    logLong,
		Example: "  shardyard log\n  shardyard log --node quickstart-s0-p0 --level debug",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if level != "" && !slices.Contains(chain.LogLevels, level) {
				return fmt.Errorf("unknown level %q: want %s", level, strings.Join(chain.LogLevels, ", "))
			}
			return logLevels(command.Context(), command.OutOrStdout(), &nodes, level)
		},
	}
	nodes.add(command)
	command.Flags().StringVar(&level, "level", "", "level to set: "+strings.Join(chain.LogLevels, ", "))
	complete(command, "level", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return chain.LogLevels, cobra.ShellCompDirectiveNoFileComp
	})
	return command
}

// logLevels sets the level of nodes, unless it is empty, and says which is in force.
func logLevels(ctx context.Context, out io.Writer, nodes *localNodesFlags, level string) error {
	_, clients, err := nodes.find()
	if err != nil {
		return err
	}
	var failures []error
	for _, client := range clients {
		defer client.Close()
		inForce, err := logLevel(ctx, client, level)
		if err != nil {
			failures = append(failures, fmt.Errorf("node %s: %w", client.Name, err))
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", client.Name, inForce)
	}
	return errors.Join(failures...)
}

func logLevel(ctx context.Context, client running.Node, level string) (string, error) {
	if level == "" {
		return client.LogLevel(ctx)
	}
	return client.SetLogLevel(ctx, level)
}
