// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/local/statedir"
)

// addFormatFlag adds the flag that names an output format, of which the first is
// the default.
func addFormatFlag(command *cobra.Command, format *string, formats ...string) {
	last := len(formats) - 1
	words := strings.Join(formats[:last], ", ") + " or " + formats[last]
	command.Flags().StringVarP(format, "output", "o", formats[0], "output format: "+words)
	complete(command, "output", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formats, cobra.ShellCompDirectiveNoFileComp
	})
}

// completeNetworks completes the name of a network of this machine.
func completeNetworks(command *cobra.Command, stateDir *string) {
	complete(command, "network", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		folder, err := stateDirOr(*stateDir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := statedir.Names(folder)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// completeAccounts completes an account as far as there is something to say.
func completeAccounts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{genesisPrefix}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeFolder completes the one folder that a command takes.
func completeFolder(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func complete(command *cobra.Command, flag string, function cobra.CompletionFunc) {
	if err := command.RegisterFlagCompletionFunc(flag, function); err != nil {
		panic(fmt.Sprintf("complete --%s: %v", flag, err))
	}
}
