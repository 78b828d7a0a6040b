// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// stubborn makes the program of these tests run undoForEver instead of them.
const stubborn = "SHARDYARD_TEST_STUBBORN"

// undoForEver is a command that says when it began and when it is to end, and does not end.
func undoForEver(ctx context.Context) int {
	fmt.Println("begun")
	<-ctx.Done()
	fmt.Println("undoing")
	select {}
}

func TestSecondInterrupt(t *testing.T) {
	for _, first := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(first.String(), func(t *testing.T) {
			command := exec.CommandContext(t.Context(), os.Args[0])
			command.Env = append(os.Environ(), stubborn+"=1")
			output, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(output)
			expect := func(line string) {
				t.Helper()
				if !lines.Scan() || lines.Text() != line {
					t.Fatalf("%q instead of %q: %v", lines.Text(), line, lines.Err())
				}
			}
			expect("begun")
			if err := command.Process.Signal(first); err != nil {
				t.Fatal(err)
			}
			expect("undoing")
			ended := make(chan error, 1)
			go func() { ended <- command.Wait() }()
			err = interruptUntil(t, command.Process, ended)
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok {
				t.Fatalf("it ended with %v", err)
			}
			if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
				t.Errorf("it ended with %v, not by the interrupt", exit)
			}
		})
	}
}

// interruptUntil interrupts a process until it has ended, and returns with what: right after the first signal the second
// one can come too early to be the second.
func interruptUntil(t *testing.T, process *os.Process, ended <-chan error) error {
	t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	patience := time.After(time.Minute)
	for {
		// One that has just ended cannot be interrupted, and is heard of next.
		if err := process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			return err
		case <-again.C:
		case <-patience:
			t.Fatal("interrupts do not end it")
		}
	}
}
