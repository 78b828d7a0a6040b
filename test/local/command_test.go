// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/waiting"
)

// command is a command line that runs.
type command struct {
	cmd            *exec.Cmd
	stdout, stderr output.Buffer
	stateDir       string
	// nodes are as many as the network has.
	nodes int
}

// up starts shardyard up on the test's network, with more flags.
func up(t *testing.T, stateDir string, flags ...string) *command {
	t.Helper()
	return upWith(t, stateDir, 0, flags...)
}

// upWith starts shardyard up with a limit of open files, for itself and for
// every validator; 0 for no other limit than this process has.
func upWith(t *testing.T, stateDir string, openFiles int, flags ...string) *command {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	return upNode(t, stateDir, programs.shardnode, openFiles, flags...)
}

// upNode is upWith with a node program of its own.
func upNode(t *testing.T, stateDir, shardnode string, openFiles int, flags ...string) *command {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	started := &command{stateDir: stateDir, nodes: 6}
	ctx, cancel := context.WithCancel(context.Background())
	arguments := []string{
		programs.shardyard,
		"up", "-f", "testdata/network.yaml", "-o", "json", "--state-dir", stateDir, "--shardnode", shardnode,
	}
	arguments = append(arguments, flags...)
	if openFiles > 0 {
		limit := fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, openFiles)
		arguments = append([]string{"bash", "-euc", limit}, arguments...)
	}
	started.cmd = exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	started.cmd.Stdout, started.cmd.Stderr = &started.stdout, &started.stderr
	if err := started.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		// Whoever waited before has the error already.
		_ = started.cmd.Wait()
		if t.Failed() {
			t.Logf("%v said\n%s%s", started.cmd.Args[1:], &started.stderr, &started.stdout)
		}
	})
	return started
}

// says waits until the progress has a text.
func (c *command) says(t *testing.T, text string) {
	t.Helper()
	waiting.Until(t, "progress says "+text, func() bool { return strings.Contains(c.stderr.String(), text) })
}

func (c *command) signal(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// summary waits for the end of a run that must succeed: its summary is all that
// it writes to standard output.
func (c *command) summary(t *testing.T) local.Summary {
	t.Helper()
	timer := time.AfterFunc(waiting.Patience, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("%v ends with %v", c.cmd.Args[1:], err)
	}
	var summary local.Summary
	decoder := json.NewDecoder(strings.NewReader(c.stdout.String()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&summary); err != nil {
		t.Fatalf("standard output is no summary: %v\n%s", err, &c.stdout)
	}
	if got := strings.Count(c.stdout.String(), "\n"); got != 1 {
		t.Errorf("standard output has %d lines, want one:\n%s", got, &c.stdout)
	}
	return summary
}

// validatorProcess is what runtime.json tells about a validator.
type validatorProcess struct {
	Name  string `json:"name"`
	PID   int    `json:"pid"`
	HTTP  string `json:"http"`
	Admin string `json:"admin"`
}

func (c *command) runtimeFile() string {
	return filepath.Join(c.stateDir, "small", "runtime.json")
}

// runtime is what runtime.json tells.
type runtime struct {
	Page       string             `json:"page"`
	Validators []validatorProcess `json:"validators"`
}

func (c *command) runtime(t *testing.T) runtime {
	t.Helper()
	content, err := os.ReadFile(c.runtimeFile())
	if err != nil {
		t.Fatal(err)
	}
	var read runtime
	if err := json.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func (c *command) validators(t *testing.T) []validatorProcess {
	t.Helper()
	runtime := c.runtime(t)
	if len(runtime.Validators) != c.nodes {
		t.Fatalf("%d nodes run, want %d", len(runtime.Validators), c.nodes)
	}
	return runtime.Validators
}

// gone says whether a process has ended. One that nobody has waited for yet has
// ended as well.
func gone(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z")
}

// stopped says whether all threads of a process are stopped by a signal.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil {
			return false
		}
		if _, state, _ := strings.Cut(string(stat), ") "); !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return len(threads) > 0
}
