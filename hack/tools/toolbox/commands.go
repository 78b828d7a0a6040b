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

// networking adds resolve NAME, which prints the addresses of a name one a line, connect HOST:PORT, which succeeds when
// a TCP connection does, and listen PORT, which accepts such connections until it is told to stop.
func networking(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	commands := map[string]func(context.Context, string) error{
		"connect": connect, "listen": listen, "resolve": resolve,
	}
	return func(ctx context.Context, args []string) error {
		command, known := commands[args[0]]
		if !known {
			return next(ctx, args)
		}
		if len(args) != 2 {
			return fail(ctx, args, errors.New("expected one argument"))
		}
		if err := command(ctx, args[1]); err != nil {
			return fail(ctx, args, err)
		}
		return nil
	}
}

func resolve(ctx context.Context, name string) error {
	addresses, err := net.DefaultResolver.LookupHost(ctx, name)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		if _, err := fmt.Fprintln(interp.HandlerCtx(ctx).Stdout, address); err != nil {
			return err
		}
	}
	return nil
}

func connect(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: connectTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

func listen(ctx context.Context, port string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", ":"+port)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	for {
		connection, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := connection.Close(); err != nil {
			return err
		}
	}
}

// fail prints an error as a command of its own would, and lets the script go on with exit status 1.
func fail(ctx context.Context, args []string, err error) error {
	fmt.Fprintf(interp.HandlerCtx(ctx).Stderr, "%s: %v\n", args[0], err)
	return interp.ExitStatus(1)
}
