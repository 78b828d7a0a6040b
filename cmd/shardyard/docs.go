// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newDocsCommand is for whoever packages the program, and is not listed.
func newDocsCommand() *cobra.Command {
	command := &cobra.Command{
		Use:    "docs",
		Short:  "Write documentation of this program",
		Hidden: true,
	}
	command.AddCommand(&cobra.Command{
		Use:   "man FOLDER",
		Short: "Write a man page of every command into a folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			root := command.Root()
			// The last line of each page says when it was written, and by what.
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "Shardyard", Manual: "Shardyard"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("write man pages: %w", err)
			}
			return nil
		},
	})
	return command
}
