// SPDX-License-Identifier: Apache-2.0

// Command shardyard plans, checks, runs and measures networks on this machine,
// from the same manifests that the API server takes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/shardyard/shardyard/internal/manifest"
)

func main() {
	os.Exit(interruptible(func(ctx context.Context) int {
		return run(ctx, os.Args, os.Stdout, os.Stderr)
	}))
}

// interruptible runs a command whose context the first interrupt ends. The second one ends the program: whoever asks
// again does not want to wait for what the command still has to undo.
func interruptible(command func(context.Context) int) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { signal.Reset(syscall.SIGINT, syscall.SIGTERM) })
	return command(ctx)
}

// run executes a command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand(args[0])
	root.SetArgs(args[1:])
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := unknownCommand(root, args[1:])
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if exit, ok := errors.AsType[exitError](err); ok {
		return exit.code
	}
	if err != nil {
		printError(stderr, err)
		return 1
	}
	return 0
}

// exitError ends a command with an exit code. What there is to say has been
// said.
type exitError struct {
	code int
}

// Error names the exit code.
func (e exitError) Error() string {
	return fmt.Sprintf("exit code %d", e.code)
}

// printError writes an error: one line for each field when a manifest is
// refused, beginning with the path of the field.
func printError(stderr io.Writer, err error) {
	var invalid *manifest.InvalidError
	if !errors.As(err, &invalid) {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return
	}
	for _, line := range invalid.Lines() {
		fmt.Fprintln(stderr, line)
	}
}
