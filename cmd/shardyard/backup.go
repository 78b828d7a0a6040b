// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/local/machinebackup"
)

const backupLong = `Keep a network, which must not run, in a folder or a bucket: its manifest and genesis
document, all of its keys, and what nodes have on their disks, with a manifest of the
backup that has the checksum of each file.

It is a network of this machine, or with --namespace, --context or --kubeconfig one of a
cluster. That one has to be stopped, by spec.lifetime with the action Stop. Each node's
disk is then read by a pod of its own, with the credentials that --secret names, or as
the --service-account that the cloud knows, and is sent to the bucket from there: this
machine need not reach it. A backup of either kind is restored as either.

A bucket is named by a URL, s3://BUCKET/PREFIX?region=REGION or gs://BUCKET/PREFIX, and
the credentials are where its own command line looks for them: AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, or what the machine is given.
With endpoint=URL and use_path_style=true, it is one of another server that speaks as
S3 does. Nothing may be at the place, folder or prefix.

All nodes' data brings the whole network back. That of an archive alone, with
--node NETWORK-a0, is far less, and brings back shards whose producers lost theirs, as
long as the rest of the network has what followed.

Whoever has the backup has the keys: only its owner can read a folder, and only those
may read a bucket who may run the network.`

const restoreLong = `Put back what shardyard backup kept. The network must not run. Where there is none,
it is made as it was; where there is one, it must be the same, and nodes get their data
back.

Every file is compared with its checksum, the genesis document with the network that is
there, and the formats of the data with the node program, before anything is written.
What a node has on its disk stays unless --replace is given. From a bucket come the
network's own files and the data of the nodes that are put back, to a folder beside
the networks first, where they are checked.

With --namespace, --context or --kubeconfig, the network is brought back in a cluster,
from a bucket, and must not be there: delete it first. Its genesis document, disks and
keys are made, and pods fill the disks, with the credentials that --secret names, or as
the --service-account that the cloud knows: this machine need not reach the bucket. The
manifest goes to standard output, and all else to standard error; kubectl apply makes
the network of it.`

func newBackupCommand() *cobra.Command {
	var options machinebackup.Options
	var cluster clusterBackupFlags
	command := &cobra.Command{
		Use:   "backup FOLDER|URL --network NETWORK",
		Short: "Keep the data of a network that does not run",
		Long:  backupLong,
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: completeFolder,
		RunE: func(command *cobra.Command, args []string) (err error) {
			ctx, stop := untilHangup(command.Context())
			defer stop()
			options.To = args[0]
			if ofCluster, err := cluster.given(command, "state-dir"); err != nil {
				return err
			} else if ofCluster {
				return cluster.backup(ctx, command, args[0], options.Network, options.Nodes)
			}
			if options.StateDir, err = stateDirOr(options.StateDir); err != nil {
				return err
			}
			return tellBackup(command.OutOrStdout(), "kept")(machinebackup.Backup(ctx, options))
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.Network, "network", "", "network to keep")
	addStateDirFlag(command, &options.StateDir)
	completeNetworks(command, &options.StateDir)
	flags.StringArrayVar(&options.Nodes, "node", nil, "node whose data to keep; may be repeated (default all)")
	cluster.add(command)
	if err := command.MarkFlagRequired("network"); err != nil {
		panic(err)
	}
	return command
}

func newRestoreCommand() *cobra.Command {
	var options machinebackup.RestoreOptions
	var cluster clusterBackupFlags
	command := &cobra.Command{
		Use:   "restore FOLDER|URL",
		Short: "Put back the data of a network that was kept",
		Long:  restoreLong,
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: completeFolder,
		RunE: func(command *cobra.Command, args []string) (err error) {
			ctx, stop := untilHangup(command.Context())
			defer stop()
			options.From = args[0]
			if ofCluster, err := cluster.given(command, "state-dir", "shardnode"); err != nil {
				return err
			} else if ofCluster {
				return cluster.restore(ctx, command, args[0], options.Nodes, options.Replace)
			}
			if options.StateDir, err = stateDirOr(options.StateDir); err != nil {
				return err
			}
			if options.Shardnode, err = local.FindShardnode(options.Shardnode); err != nil {
				return err
			}
			return tellBackup(command.OutOrStdout(), "put back")(machinebackup.Restore(ctx, options))
		},
	}
	flags := command.Flags()
	addStateDirFlag(command, &options.StateDir)
	flags.StringArrayVar(&options.Nodes, "node", nil, "node whose data to put back; may be repeated (default all that the backup has)")
	flags.BoolVar(&options.Replace, "replace", false, "remove what these nodes have on their disks")
	cluster.add(command)
	flags.StringVar(&cluster.manifest, "manifest", "", "manifest of the network in the cluster (default the one of the backup)")
	flags.StringVar(&options.Shardnode, "shardnode", "", "the node program (default the one beside this program, or else of the PATH)")
	return command
}

// tellBackup says what was done with a backup.
func tellBackup(out io.Writer, done string) func(*backup.Manifest, error) error {
	return func(manifest *backup.Manifest, err error) error {
		if err != nil {
			return err
		}
		at := "at a height that nobody saw"
		if manifest.Chain != nil {
			at = fmt.Sprintf("at height %d or later", manifest.Chain.FinalizedHeight)
		}
		_, err = fmt.Fprintf(out, "%s network %s %s, genesis hash %s\n", done, manifest.Network, at, manifest.GenesisHash)
		return err
	}
}
