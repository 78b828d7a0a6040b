// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// connectTimeout is long enough for a lost packet to be sent again, and short enough for a test that expects silence.
const connectTimeout = 3 * time.Second

// waiting adds sleep, with a number of seconds or "infinity".
func waiting(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		if args[0] != "sleep" {
			return next(ctx, args)
		}
		if len(args) != 2 {
			return fail(ctx, args, errors.New("expected a number of seconds"))
		}
		if args[1] == "infinity" {
			<-ctx.Done()
			return nil
		}
		duration, err := time.ParseDuration(args[1] + "s")
		if err != nil {
			return fail(ctx, args, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(duration):
		}
		return nil
	}
}

// networking adds resolve NAME, which prints the addresses of a name one a line, and connect HOST:PORT, which succeeds
// when a TCP connection does.
func networking(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		if args[0] != "resolve" && args[0] != "connect" {
			return next(ctx, args)
		}
		if len(args) != 2 {
			return fail(ctx, args, errors.New("expected one argument"))
		}
		if args[0] == "connect" {
			dialer := net.Dialer{Timeout: connectTimeout}
			connection, err := dialer.DialContext(ctx, "tcp", args[1])
			if err != nil {
				return fail(ctx, args, err)
			}
			return connection.Close()
		}
		addresses, err := net.DefaultResolver.LookupHost(ctx, args[1])
		if err != nil {
			return fail(ctx, args, err)
		}
		for _, address := range addresses {
			fmt.Fprintln(interp.HandlerCtx(ctx).Stdout, address)
		}
		return nil
	}
}

// fail prints an error as a command of its own would, and lets the script go on with exit status 1.
func fail(ctx context.Context, args []string, err error) error {
	fmt.Fprintf(interp.HandlerCtx(ctx).Stderr, "%s: %v\n", args[0], err)
	return interp.ExitStatus(1)
}
