// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/shardyard/shardyard/internal/local/statedir"
)

// process is a running process. It ends when this program ends, however that
// ends.
type process struct {
	command *exec.Cmd
	// ended is closed when the process has ended.
	ended chan struct{}
}

// startProcess starts a program that writes to a log file.
func startProcess(path string, args []string, logPath string) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_WRONLY|os.O_CREATE|os.O_APPEND, statedir.FileMode)
	if err != nil {
		return nil, err
	}
	// The process has its own copy.
	defer func() { _ = log.Close() }()

	//nolint:noctx // ending at once when a context is done would cut off a clean stop
	command := exec.Command(path, args...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = processAttributes()

	started := &process{command: command, ended: make(chan struct{})}
	if err := started.start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return started, nil
}

// start starts the process and waits for its end in a thread that lives as long
// as the process: its end is the signal for a process to end with its parent.
func (p *process) start() error {
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
		close(p.ended)
	}()
	return <-started
}

func (p *process) pid() int {
	return p.command.Process.Pid
}

// stop asks the process to end and kills it if it does not. It returns when the
// process has ended, and says whether it did so by itself.
func (p *process) stop(grace time.Duration) bool {
	// A process that has ended cannot be signalled, and needs not.
	_ = p.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		_ = p.command.Process.Kill()
		<-p.ended
		return false
	}
}

// signal signals the process, unless it has ended.
func (p *process) signal(signal os.Signal) error {
	return p.command.Process.Signal(signal)
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// exitCode is the exit code of a process that has ended; -1 when a signal ended
// it.
func (p *process) exitCode() int {
	return p.command.ProcessState.ExitCode()
}

// end says how the process ended, such as "exit status 1" or "signal: killed".
func (p *process) end() string {
	return p.command.ProcessState.String()
}

// cpu is the CPU time of a process that has ended.
func (p *process) cpu() time.Duration {
	return p.command.ProcessState.UserTime() + p.command.ProcessState.SystemTime()
}
