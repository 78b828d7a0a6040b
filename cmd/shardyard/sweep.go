// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/shardyard/shardyard/internal/sweep"
)

const sweepLong = `List the disks in a cluster that outlived their network, which cost money and are
of no use: volume claims of networks that are not there any more, and volumes
whose claim is gone. A network with spec.volume.retention Retain leaves its disks
on purpose; only who made it knows whether it is to come back.

Of some volumes only the name of their claim says that they were a network's, which
may be the name of anybody's: neither their storage class is one that was made for the
network, nor is anything else of it in its namespace. The name of the network has a ?
then, or byNameOnly in JSON.

Nothing is deleted without --delete. With it, all that is listed is: claims, and
the volumes that go with them, and volumes that were kept when their claim went.
The chains on them are gone for good then. Volumes that are known by name only are
left, unless both --namespace and --network say whose they are.`

// sweepOptions say what to look at and what to do.
type sweepOptions struct {
	cluster   clusterFlags
	namespace string
	network   string
	format    string
	remove    bool
}

func newSweepCommand() *cobra.Command {
	var options sweepOptions
	command := &cobra.Command{
		Use:   "sweep",
		Short: "List the disks in a cluster that outlived their network, and delete them when asked to",
		Long:  sweepLong,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runSweep(command, &options)
		},
	}
	options.cluster.add(command)
	flags := command.Flags()
	flags.StringVarP(&options.namespace, "namespace", "n", "", "only disks of networks of this namespace (default all)")
	flags.StringVar(&options.network, "network", "", "only disks of networks of this name (default all)")
	addFormatFlag(command, &options.format, "table", "json")
	flags.BoolVar(&options.remove, "delete", false, "delete what is listed, for good")
	return command
}

func runSweep(command *cobra.Command, options *sweepOptions) error {
	write, ok := sweepFormats[options.format]
	if !ok {
		return fmt.Errorf("unknown output format %q: want table or json", options.format)
	}
	cluster, err := options.cluster.client()
	if err != nil {
		return err
	}
	ctx := command.Context()
	var namespaces []string
	if options.namespace != "" {
		namespaces = []string{options.namespace}
	}
	seen, err := sweep.Read(ctx, cluster, namespaces...)
	if err != nil {
		return err
	}
	found := []sweep.Leftover{}
	for _, leftover := range sweep.Find(seen) {
		if options.network == "" || leftover.Network == options.network {
			found = append(found, leftover)
		}
	}
	if err := write(command.OutOrStdout(), found); err != nil || !options.remove {
		return err
	}
	return sweep.Remove(ctx, cluster, options.deletable(command.ErrOrStderr(), found))
}

// deletable are the disks that may be deleted, and says which others are left, unless
// somebody named their network: a volume that is known by name only may be anybody's, and a
// restore may go on.
func (o *sweepOptions) deletable(out io.Writer, found []sweep.Leftover) []sweep.Leftover {
	if o.namespace != "" && o.network != "" {
		return found
	}
	return slices.DeleteFunc(found, func(leftover sweep.Leftover) bool {
		var why string
		switch {
		case leftover.ByNameOnly:
			why = "only its claim's name says whose it was; to delete it"
		case leftover.Restoring:
			why = "its network is being restored; to give that up and delete it"
		default:
			return false
		}
		_, _ = fmt.Fprintf(out, "%s %s is left: %s: shardyard sweep --namespace %s --network %s --delete\n",
			leftover.Kind, leftover.Name, why, leftover.Namespace, leftover.Network)
		return true
	})
}

var sweepFormats = map[string]func(io.Writer, []sweep.Leftover) error{
	"table": writeSweepTable,
	"json":  writeSweepJSON,
}

func writeSweepTable(out io.Writer, found []sweep.Leftover) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(out, "no disk outlived its network")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tNETWORK\tKIND\tNAME\tSIZE\tCLASS\tSTATE\tAGE")
	for i := range found {
		leftover := &found[i]
		network := leftover.Network
		if leftover.ByNameOnly {
			network += "?"
		}
		state := leftover.State
		if leftover.Restoring {
			state = "Restoring"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", leftover.Namespace, network, leftover.Kind, leftover.Name,
			leftover.Size, leftover.StorageClass, state, duration.HumanDuration(time.Since(leftover.Created)))
	}
	return table.Flush()
}

func writeSweepJSON(out io.Writer, found []sweep.Leftover) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(found)
}
