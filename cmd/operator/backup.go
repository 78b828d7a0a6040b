// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/clusterbackup"
)

// backupFlags say what one pod of a backup is about.
type backupFlags struct {
	url, folder, node, address, passwordHash string
}

// newBackupCommands are what the pods of a backup or restore of a network do.
func newBackupCommands() []*cobra.Command {
	return []*cobra.Command{
		newBackupPart("keep-network", "Begin a backup of a network with its manifest, genesis document and keys",
			func(ctx context.Context, given *backupFlags) error {
				return clusterbackup.KeepNetwork(ctx, given.url, given.folder)
			}, "folder"),
		newBackupPart("keep-node", "Add what a node has on its disk to a backup",
			func(ctx context.Context, given *backupFlags) error {
				return clusterbackup.KeepNode(ctx, given.url, given.folder, given.node)
			}, "folder", "node"),
		newBackupPart("seal-backup", "Make a backup of its parts",
			func(ctx context.Context, given *backupFlags) error {
				return clusterbackup.Seal(ctx, given.url, given.folder)
			}, "folder"),
		newBackupPart("clear-backup", "Remove the parts of a backup that failed",
			func(ctx context.Context, given *backupFlags) error { return clusterbackup.Clear(ctx, given.url) }),
		newBackupPart("restore-node", "Put what a backup has of a node onto its disk",
			func(ctx context.Context, given *backupFlags) error {
				return clusterbackup.RestoreNode(ctx, given.url, given.folder, given.node)
			}, "folder", "node"),
		newBackupPart("serve-backup", "Show the manifest, genesis document and keys of a backup over HTTP until told to stop",
			func(ctx context.Context, given *backupFlags) error {
				listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", given.address)
				if err != nil {
					return err
				}
				return clusterbackup.Serve(ctx, given.url, given.passwordHash, listener)
			}, "listen", "password-sha256"),
	}
}

// newBackupPart is a command with the flags that it takes besides the place.
func newBackupPart(use, short string, do func(context.Context, *backupFlags) error, takes ...string) *cobra.Command {
	given := &backupFlags{}
	command := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return do(command.Context(), given) },
	}
	flags := command.Flags()
	flags.StringVar(&given.url, "url", "", "place in a bucket that the backup is at")
	for _, name := range takes {
		switch name {
		case "folder":
			flags.StringVar(&given.folder, name, "", "folder of the files, or of the node's disk")
		case "node":
			flags.StringVar(&given.node, name, "", "name of the node")
		case "listen":
			flags.StringVar(&given.address, name, "", "address to show them at")
		case "password-sha256":
			flags.StringVar(&given.passwordHash, name, "", "SHA-256, in hexadecimal, of the password of who is shown them")
		}
	}
	for _, name := range append(takes, "url") {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}
