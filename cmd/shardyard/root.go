// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/version"
)

// pluginPrefix begins the names of programs that kubectl runs as plugins.
const pluginPrefix = "kubectl-"

func newRootCommand(program string) *cobra.Command {
	root := &cobra.Command{
		Use:   "shardyard",
		Short: "Plan, check, run and measure sharded networks",
		// What --version prints is what the command prints.
		Version: version.Get().String(),
		// Errors are printed once, by main, and are not about usage.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	if name := filepath.Base(program); strings.HasPrefix(name, pluginPrefix) {
		root.Annotations = map[string]string{
			cobra.CommandDisplayNameAnnotation: "kubectl " + strings.TrimPrefix(name, pluginPrefix),
		}
	}
	root.AddCommand(
		newAccountCommand(),
		newBackupCommand(),
		newBenchCommand(),
		newCollectCommand(),
		newDocsCommand(),
		newFaucetCommand(),
		newFaultCommand(),
		newJoinCommand(),
		newLogCommand(),
		newPlanCommand(),
		newProfileCommand(),
		newReportCommand(),
		newRestoreCommand(),
		newSweepCommand(),
		newTraceCommand(),
		newTransferCommand(),
		newUpCommand(),
		newValidateCommand(),
		newVersionCommand(),
	)
	root.SetVersionTemplate("shardyard {{.Version}}\n")
	return root
}

// addManifestFlag adds the flag that names the manifest.
func addManifestFlag(command *cobra.Command, path *string) {
	command.Flags().StringVarP(path, "filename", "f", "", "file that holds one ShardNetwork, in YAML or JSON")
	if err := command.MarkFlagRequired("filename"); err != nil {
		panic(err)
	}
	if err := command.MarkFlagFilename("filename", "yaml", "yml", "json"); err != nil {
		panic(err)
	}
}
