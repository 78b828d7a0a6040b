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
	"github.com/shardyard/shardyard/internal/profiling"
)

const profileLong = `Take a profile of nodes of a network that runs on this machine: of the next blocks,
from one that is finalised to another, or of a time. It ends after 60 s at the latest.
One of kind CPU has 250 samples of each second of CPU time that a node takes, on all
processors together; one of kind Allocations has a sample of each 512 KiB that a node
allocates, in the mean, and says how many bytes and objects functions allocate.

Two files are written, named after the network, the node and the height with which the
profile begins: one for go tool pprof and other viewers, .pb.gz, and a flame graph that
a browser opens, .html. One of allocations has a second flame graph, of objects.
Profiles of several nodes, which is all that run without --node, are merged; the label
node of a sample says whose it is.`

const kibibyte = 1 << 10

func newProfileCommand() *cobra.Command {
	var options profileOptions
	command := &cobra.Command{
		Use:   "profile (--blocks N | --seconds N)",
		Short: "Take a profile of nodes of a network of this machine",
		Long:  profileLong,
		Example: "  shardyard profile --node quickstart-s0-p0 --blocks 1\n  shardyard profile --seconds 30\n" +
			"  shardyard profile --kind Allocations --seconds 30",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if options.wanted.Kind, err = profileKind(options.kind); err != nil {
				return err
			}
			if err := options.check(command); err != nil {
				return err
			}
			ctx, stop := untilHangup(command.Context())
			defer stop()
			return takeProfile(ctx, command.OutOrStdout(), &options)
		},
	}
	flags := command.Flags()
	options.nodes.add(command)
	flags.StringVar(&options.kind, "kind", string(chain.ProfileCPU), "what the profile says of functions: "+profileKinds())
	completeProfileKinds(command, "kind")
	flags.Int32Var(&options.wanted.Blocks, "blocks", 0, "profile so many blocks, from the next one that is finalised on: 1 to 6000")
	flags.Int32Var(&options.wanted.Seconds, "seconds", 0, "profile so many seconds: 1 to 60")
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
	kind   string
	wanted chain.ProfileWanted
	folder string
}

// check refuses what no node takes a profile of.
func (o *profileOptions) check(command *cobra.Command) error {
	for _, one := range []struct {
		flag        string
		given, most int32
	}{{"blocks", o.wanted.Blocks, chain.MostProfileBlocks}, {"seconds", o.wanted.Seconds, chain.MostProfileSeconds}} {
		if command.Flags().Changed(one.flag) && (one.given < 1 || one.given > one.most) {
			return fmt.Errorf("--%s must be 1 to %d, is %d", one.flag, one.most, one.given)
		}
	}
	return nil
}

// profileKind is the kind of a name.
func profileKind(name string) (chain.ProfileKind, error) {
	kind := chain.ProfileKind(name)
	if !slices.Contains(chain.ProfileKinds, kind) {
		return "", fmt.Errorf("unknown kind of profile %q: want %s", name, profileKinds())
	}
	return kind, nil
}

// profileKinds are the kinds that there are.
func profileKinds() string {
	names := make([]string, 0, len(chain.ProfileKinds))
	for _, kind := range chain.ProfileKinds {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// completeProfileKinds completes the kinds of a flag.
func completeProfileKinds(command *cobra.Command, flag string) {
	complete(command, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(profileKinds(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
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
	taken, failures := profiling.TakeAll(ctx, names, nodes, options.wanted)
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
	how := fmt.Sprintf("%d per second of CPU time", status.FrequencyHertz)
	if status.Kind == chain.ProfileAllocations {
		how = fmt.Sprintf("one in %d KiB allocated", status.IntervalBytes/kibibyte)
	}
	fmt.Fprintf(out, "%s: %d samples, %s, from block %d to %d",
		taken.Node, status.Samples, how, status.FirstHeight, status.LastHeight)
	if status.Reason != "" {
		fmt.Fprintf(out, "; ended early: %s", status.Reason)
	}
	fmt.Fprintln(out)
}
