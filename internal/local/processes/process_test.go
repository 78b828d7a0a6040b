// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/test/smallnetwork"
	"github.com/shardyard/shardyard/test/waiting"
)

func startShell(t *testing.T, script string) (started *Process, logPath string) {
	t.Helper()
	logPath = filepath.Join(t.TempDir(), "log")
	started, err := Start("/bin/sh", []string{"-c", script}, logPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { started.Stop(0) })
	return started, logPath
}

// running says whether there is a process, zombies included.
func running(pid int) bool {
	return syscall.Kill(pid, 0) == nil
}

func TestProcessEnds(t *testing.T) {
	t.Parallel()
	process, log := startShell(t, "echo to output; echo to error >&2; exit 3")
	<-process.Ended
	if got := process.ExitCode(); got != 3 {
		t.Errorf("the exit code is %d, want 3", got)
	}
	if got, want := process.End(), "exit status 3"; got != want {
		t.Errorf("the end is %q, want %q", got, want)
	}
	if got, want := smallnetwork.Read(t, log), "to output\nto error\n"; got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
	if running(process.PID()) {
		t.Error("a process is left")
	}
}

func TestProcessStopsByItself(t *testing.T) {
	t.Parallel()
	process, log := startShell(t, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	waiting.Until(t, "the trap is set", func() bool { return smallnetwork.Read(t, log) == "ready\n" })
	if !process.Stop(time.Minute) {
		t.Error("the process was killed")
	}
	if got := process.ExitCode(); got != 0 {
		t.Errorf("the exit code is %d, want 0", got)
	}
	if !process.Stop(0) && running(process.PID()) {
		t.Error("a process is left")
	}
}

func TestProcessIsKilled(t *testing.T) {
	t.Parallel()
	process, log := startShell(t, "trap '' TERM; echo ready; while :; do :; done")
	waiting.Until(t, "the trap is set", func() bool { return smallnetwork.Read(t, log) == "ready\n" })
	if process.Stop(time.Millisecond) {
		t.Error("a process that ignores the signal stopped by itself")
	}
	if got, want := process.End(), "signal: killed"; got != want {
		t.Errorf("the end is %q, want %q", got, want)
	}
	if process.CPU() <= 0 {
		t.Errorf("the CPU time is %s, want more", process.CPU())
	}
	if running(process.PID()) {
		t.Error("a process is left")
	}
}

// Ctrl-C in a terminal goes to the group of this program.
func TestProcessHasItsOwnGroup(t *testing.T) {
	t.Parallel()
	process, _ := startShell(t, "while :; do sleep 0.01; done")
	group, err := syscall.Getpgid(process.PID())
	if err != nil || group != process.PID() {
		t.Errorf("the group is %d (%v), want %d", group, err, process.PID())
	}
}

func TestMissingProgram(t *testing.T) {
	t.Parallel()
	_, err := Start("/no/such/program", nil, filepath.Join(t.TempDir(), "log"))
	if err == nil || !strings.Contains(err.Error(), "start /no/such/program: ") {
		t.Errorf("the error is %v, want it to name the program", err)
	}
}
