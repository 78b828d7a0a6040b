// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// newServeArtifactCommand is what shows the result of a benchmark to whoever
// forwards a port to its pod.
func newServeArtifactCommand() *cobra.Command {
	var folder, address string
	command := &cobra.Command{
		Use:   "serve-artifact",
		Short: "Show the files of a benchmark's result over HTTP until told to stop",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if _, err := os.ReadDir(folder); err != nil {
				return fmt.Errorf("find result: %w", err)
			}
			listener, err := (&net.ListenConfig{}).Listen(command.Context(), "tcp", address)
			if err != nil {
				return err
			}
			return serveArtifact(command.Context(), folder, listener)
		},
	}
	flags := command.Flags()
	flags.StringVar(&folder, "artifact", "", "folder of the result")
	flags.StringVar(&address, "listen", "127.0.0.1:8080", "address to show it at")
	if err := command.MarkFlagRequired("artifact"); err != nil {
		panic(err)
	}
	return command
}

func serveArtifact(ctx context.Context, folder string, listener net.Listener) error {
	server := &http.Server{Handler: http.FileServerFS(os.DirFS(folder)), ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
