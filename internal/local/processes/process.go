// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// logMode is the mode of a log.
const logMode os.FileMode = 0o644

// Process is a running process. It ends when this program ends, however that
// ends.
type Process struct {
	command *exec.Cmd
	// Ended is closed when the process has ended.
	Ended chan struct{}
}

// Start starts a program that writes to a log file.
func Start(path string, args []string, logPath string) (*Process, error) {
	log, err := os.OpenFile(logPath, os.O_WRONLY|os.O_CREATE|os.O_APPEND, logMode)
	if err != nil {
		return nil, err
	}
	// The process has its own copy.
	defer func() { _ = log.Close() }()

	//nolint:noctx // ending at once when a context is done would cut off a clean stop
	command := exec.Command(path, args...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = processAttributes()

	started := &Process{command: command, Ended: make(chan struct{})}
	if err := started.start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return started, nil
}

// start starts the process and waits for its end in a thread that lives as long
// as the process: its end is the signal for a process to end with its parent.
func (p *Process) start() error {
	started := make(chan error)
	go func() {
		// Never unlocked, the thread ends with this function.
		runtime.LockOSThread()
		err := p.command.Start()
		started <- err
		if err != nil {
			return
		}
		// What there is to know of the end is in the state of the process.
		_ = p.command.Wait()
		close(p.Ended)
	}()
	return <-started
}

// PID is that of the process, which may have ended.
func (p *Process) PID() int {
	return p.command.Process.Pid
}

// Stop asks the process to end and kills it if it does not. It returns when the
// process has ended, and says whether it did so by itself.
func (p *Process) Stop(grace time.Duration) bool {
	// A process that has ended cannot be signalled, and needs not.
	_ = p.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.Ended:
		return true
	case <-timer.C:
		_ = p.command.Process.Kill()
		<-p.Ended
		return false
	}
}

// Signal signals the process, unless it has ended.
func (p *Process) Signal(signal os.Signal) error {
	return p.command.Process.Signal(signal)
}

// HasEnded says whether the process has ended.
func (p *Process) HasEnded() bool {
	select {
	case <-p.Ended:
		return true
	default:
		return false
	}
}

// ExitCode is the exit code of a process that has ended; -1 when a signal ended
// it.
func (p *Process) ExitCode() int {
	return p.command.ProcessState.ExitCode()
}

// End says how the process ended, such as "exit status 1" or "signal: killed".
func (p *Process) End() string {
	return p.command.ProcessState.String()
}

// CPU is the CPU time of a process that has ended.
func (p *Process) CPU() time.Duration {
	return p.command.ProcessState.UserTime() + p.command.ProcessState.SystemTime()
}
