// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/version"
)

func newVersionCommand() *cobra.Command {
	var format string
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			write, ok := versionFormats[format]
			if !ok {
				return fmt.Errorf("unknown output format %q: want text or json", format)
			}
			return write(command.OutOrStdout(), version.Get())
		},
	}
	addFormatFlag(command, &format, "text", "json")
	return command
}

var versionFormats = map[string]func(io.Writer, version.Info) error{
	"text": func(out io.Writer, info version.Info) error {
		_, err := fmt.Fprintf(out, "shardyard %s\n", info)
		return err
	},
	"json": func(out io.Writer, info version.Info) error {
		return json.NewEncoder(out).Encode(info)
	},
}
