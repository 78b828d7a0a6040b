// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/summary"
)

// newUploadCommand is what puts the result of a benchmark into its bucket. Whoever does it
// again finds it there.
func newUploadCommand() *cobra.Command {
	var folder, url, path string
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "upload-artifact",
		Short: "Put the files of a benchmark's result into a bucket",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			limitMemory(newLog(command, slog.LevelInfo))
			ctx, cancel := context.WithTimeout(command.Context(), timeout)
			defer cancel()
			at, err := artifact.Upload(ctx, folder, url)
			if err != nil {
				return err
			}
			message, err := summary.Encode(summary.Upload{URL: at})
			if err != nil {
				return err
			}
			return os.WriteFile(path, []byte(message), summaryMode)
		},
	}
	flags := command.Flags()
	flags.StringVar(&folder, "artifact", "", "folder of the result")
	flags.StringVar(&url, "url", "", "place in a bucket that the result's own folder is to be below")
	flags.StringVar(&path, "summary", "", "file to write to where that is")
	flags.DurationVar(&timeout, "timeout", 5*time.Minute, "how long it may take")
	for _, name := range []string{"artifact", "url", "summary"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}
