// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
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

// suggestedDistance is how many letters a word may be off of a command that is meant.
const suggestedDistance = 2

// unknownCommand refuses a word after a command that only has others below it. The library
// shows the help of that command instead, and a script that has a word wrong goes on.
func unknownCommand(root *cobra.Command, args []string) error {
	// What it does not find, it says when it runs.
	found, rest, _ := root.Find(args)
	if found == nil || found == root || found.Runnable() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil
	}
	words := fmt.Sprintf("unknown command %q for %q", rest[0], found.CommandPath())
	found.SuggestionsMinimumDistance = suggestedDistance
	if known := found.SuggestionsFor(rest[0]); len(known) > 0 {
		words += ": is it " + strings.Join(known, " or ") + "?"
	}
	return errors.New(words)
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
