// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/manifest"
)

func newValidateCommand() *cobra.Command {
	var path string
	command := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Check a ShardNetwork manifest as the API server would, and its budget as the operator would",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			network, err := manifest.Read(path)
			if err != nil {
				return err
			}
			if _, err := newPricedPlan(network); err != nil {
				return err
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "shardnetwork/%s is valid\n", network.Name)
			return err
		},
	}
	addManifestFlag(command, &path)
	return command
}
