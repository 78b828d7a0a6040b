// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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

// hungUp makes the program of these tests run outliveTerminal instead of them.
const hungUp = "SHARDYARD_TEST_HUNG_UP"

// outliveTerminal is a command that says when it is to end because its terminal went, and,
// asked, when it is not.
func outliveTerminal(ctx context.Context) int {
	patience := time.Minute
	if signal.Ignored(syscall.SIGHUP) {
		patience = time.Second
	}
	ctx, stop := untilHangup(ctx)
	defer stop()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	fmt.Println("begun")
	<-asked
	select {
	case <-ctx.Done():
		fmt.Println("undoing")
	case <-time.After(patience):
		fmt.Println("goes on")
	}
	select {}
}

// start starts a program that has the one of these tests be another, and expects it to say
// one line after the other.
func start(t *testing.T, as, program string, args ...string) (command *exec.Cmd, expect func(line string)) {
	t.Helper()
	command = exec.CommandContext(t.Context(), program, args...)
	command.Env = append(os.Environ(), as+"=1")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	return command, func(line string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != line {
			t.Fatalf("%q instead of %q: %v", lines.Text(), line, lines.Err())
		}
	}
}

func TestSecondInterrupt(t *testing.T) {
	for _, first := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(first.String(), func(t *testing.T) {
			command, expect := start(t, stubborn, os.Args[0])
			expect("begun")
			if err := command.Process.Signal(first); err != nil {
				t.Fatal(err)
			}
			expect("undoing")
			ended := make(chan error, 1)
			go func() { ended <- command.Wait() }()
			err := interruptUntil(t, command.Process, ended)
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

// A command whose terminal goes is to end, unless whoever started it has it ignore that.
func TestHangup(t *testing.T) {
	// Who starts these tests may have it ignored, and what is heeded here is not ignored there.
	heeded := make(chan os.Signal, 1)
	signal.Notify(heeded, syscall.SIGHUP)
	defer signal.Stop(heeded)
	for name, test := range map[string]struct{ script, says string }{
		"of a terminal": {"exec \"$0\"", "undoing"},
		"under nohup":   {"trap '' HUP; exec \"$0\"", "goes on"},
	} {
		t.Run(name, func(t *testing.T) {
			command, expect := start(t, hungUp, "sh", "-c", test.script, os.Args[0])
			expect("begun")
			// Of two signals that are ignored or not, the one that is not comes second.
			for _, next := range []os.Signal{syscall.SIGHUP, syscall.SIGUSR1} {
				if err := command.Process.Signal(next); err != nil {
					t.Fatal(err)
				}
			}
			expect(test.says)
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
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
