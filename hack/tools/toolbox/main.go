// SPDX-License-Identifier: Apache-2.0

// Command toolbox is a shell with the usual file commands in one static binary. Its image runs the scripts of the
// volume provisioner, and pods of tests that look at a cluster from inside. Kubernetes' own agnhost is not enough: the
// shell of its image is Alpine's, and what is built from Go modules alone has no Alpine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"mvdan.cc/sh/moreinterp/coreutils"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

func main() {
	err := run(os.Args[1:])
	var status interp.ExitStatus
	switch {
	case errors.As(err, &status):
		os.Exit(int(status))
	case err != nil:
		fmt.Fprintln(os.Stderr, "toolbox:", err)
		os.Exit(1)
	}
}

// run executes the command after -c, the script that the first argument names, or standard input.
func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	flags := flag.NewFlagSet("sh", flag.ContinueOnError)
	command := flags.String("c", "", "the command to run")
	if err := flags.Parse(args); err != nil {
		return err
	}

	var source io.Reader = os.Stdin
	name, params := "stdin", flags.Args()
	switch {
	case *command != "":
		source, name = strings.NewReader(*command), "command"
	case len(params) > 0:
		file, err := os.Open(params[0])
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		source, name, params = file, params[0], params[1:]
	}

	program, err := syntax.NewParser().Parse(source, name)
	if err != nil {
		return err
	}
	shell, err := interp.New(
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.Params(append([]string{"--"}, params...)...),
		interp.ExecHandlers(waiting, networking, coreutils.ExecHandler),
	)
	if err != nil {
		return err
	}
	return shell.Run(ctx, program)
}
