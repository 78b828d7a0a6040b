// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/profiling"
)

const profileLong = `Take a CPU profile of nodes of a network that runs on this machine: of the next
blocks, from one that is finalised to another, or of a time. It has 250 samples of each
second of CPU time that a node takes, on all processors together, and ends after 60 s
at the latest.

Two files are written, named after the network, the node and the height with which the
profile begins: one for go tool pprof and other viewers, .pb.gz, and a flame graph that
a browser opens, .html. Profiles of several nodes, which is all that run without
--node, are merged; the label node of a sample says whose it is.`

func newProfileCommand() *cobra.Command {
	var options profileOptions
	command := &cobra.Command{
		Use:     "profile (--blocks N | --seconds N)",
		Short:   "Take a CPU profile of nodes of a network of this machine",
		Long:    profileLong,
		Example: "  shardyard profile --node quickstart-s0-p0 --blocks 1\n  shardyard profile --seconds 30",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return takeProfile(ctx, command.OutOrStdout(), &options)
		},
	}
	flags := command.Flags()
	options.nodes.add(command)
	flags.Int32Var(&options.extent.Blocks, "blocks", 0, "profile so many blocks, from the next one that is finalised on: 1 to 6000")
	flags.Int32Var(&options.extent.Seconds, "seconds", 0, "profile so many seconds: 1 to 60")
	flags.StringVar(&options.folder, "folder", ".", "folder that the files are written to")
	command.MarkFlagsMutuallyExclusive("blocks", "seconds")
	command.MarkFlagsOneRequired("blocks", "seconds")
	if err := command.MarkFlagDirname("folder"); err != nil {
		panic(err)
	}
	return command
}

// profileOptions say what a profile is of, and where it goes.
type profileOptions struct {
	nodes  localNodesFlags
	extent chain.ProfileExtent
	folder string
}

func takeProfile(ctx context.Context, out io.Writer, options *profileOptions) error {
	network, clients, err := options.nodes.find()
	if err != nil {
		return err
	}
	names, nodes := make([]string, 0, len(clients)), make([]profiling.Node, 0, len(clients))
	for _, client := range clients {
		defer client.Close()
		names, nodes = append(names, client.Name), append(nodes, client.Client)
	}
	taken, failures := profiling.TakeAll(ctx, names, nodes, options.extent)
	if len(taken) == 0 {
		return failures
	}
	for _, one := range taken {
		writeTaken(out, one)
	}
	merged, err := profiling.Merge(taken)
	if err != nil {
		return errors.Join(failures, err)
	}
	paths, err := profiling.Write(options.folder, profiling.Name(network, taken), merged)
	for _, path := range paths {
		fmt.Fprintln(out, path)
	}
	return errors.Join(failures, err)
}

// writeTaken says what a profile is of.
func writeTaken(out io.Writer, taken *profiling.Taken) {
	status := &taken.Status
	fmt.Fprintf(out, "%s: %d samples, %d per second of CPU time, from block %d to %d",
		taken.Node, status.Samples, status.FrequencyHertz, status.FirstHeight, status.LastHeight)
	if status.Reason != "" {
		fmt.Fprintf(out, "; ended early: %s", status.Reason)
	}
	fmt.Fprintln(out)
}
