// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/clients"
)

const programMode os.FileMode = 0o555

// newServeLoaderCommand is what runs loaders beside a recorder, in a container of the
// image of the nodes.
func newServeLoaderCommand() *cobra.Command {
	var program clients.Program
	var socket string
	command := &cobra.Command{
		Use:   "serve-loader",
		Short: "Run loaders for the recorder that asks for them at a socket, until told to stop",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			program.Log = command.ErrOrStderr()
			return clients.Serve(command.Context(), &program, socket)
		},
	}
	flags := command.Flags()
	flags.StringVar(&socket, "socket", "", "path of the socket")
	flags.StringVar(&program.Path, "shardnode", "", "path of the node program")
	flags.StringVar(&program.Genesis, "genesis", "", "file that holds the genesis document of the network")
	for _, name := range []string{"socket", "shardnode", "genesis"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

// newCopyProgramCommand is what puts this program where a container of another image
// has it.
func newCopyProgramCommand() *cobra.Command {
	var to string
	command := &cobra.Command{
		Use:   "copy-program",
		Short: "Copy this program, for a container of another image",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			own, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			return copyProgram(own, to)
		},
	}
	command.Flags().StringVar(&to, "to", "", "path of the copy")
	if err := command.MarkFlagRequired("to"); err != nil {
		panic(err)
	}
	return command
}

func copyProgram(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	// One that was cut short is made again.
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, programMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}
