// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/smallnetwork"
	"github.com/shardyard/shardyard/test/waiting"
)

// upRun is a network of stand-ins that runs.
type upRun struct {
	progress  output.Buffer
	dir       statedir.NetworkDir
	interrupt context.CancelFunc
	done      chan struct{}
	summary   *Summary
	err       error
}

// startUp runs a network of stand-ins, until it is interrupted unless the
// options say otherwise.
func startUp(t *testing.T, stateDir string, options Options, misbehaviours map[string]misbehaviour) *upRun {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	run := &upRun{
		dir:       statedir.NetworkDir(filepath.Join(stateDir, "net")),
		interrupt: cancel,
		done:      make(chan struct{}),
	}
	options.StateDir, options.Progress = stateDir, &run.progress
	if options.Manifest == "" {
		options.Manifest = smallnetwork.Manifest(t)
	}
	if options.Shardnode == "" {
		options.Shardnode = standinProgram(t, misbehaviours)
	}
	if options.ReadyTimeout == 0 {
		options.ReadyTimeout = waiting.Patience
	}
	go func() {
		defer close(run.done)
		run.summary, run.err = Up(ctx, options)
	}()
	t.Cleanup(func() {
		cancel()
		<-run.done
		if t.Failed() {
			t.Logf("the progress was\n%s", &run.progress)
		}
	})
	return run
}

// end waits for the end of the run.
func (r *upRun) end(t *testing.T) (*Summary, error) {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(waiting.Patience):
		t.Fatal("the run does not end")
	}
	if found := smallnetwork.Files(t, string(r.dir)); found["runtime.json"] != 0 {
		t.Error("runtime.json is left after the run")
	}
	return r.summary, r.err
}

// says waits until the progress has a text.
func (r *upRun) says(t *testing.T, text string) {
	t.Helper()
	waiting.Until(t, "progress says "+text, func() bool { return strings.Contains(r.progress.String(), text) })
}

func (r *upRun) processes(t *testing.T) statedir.Processes {
	t.Helper()
	var current statedir.Processes
	if err := readJSON(r.dir.Runtime(), &current); err != nil {
		t.Fatal(err)
	}
	return current
}

// loads are the rates that a validator was told, in order, or that it refused
// one.
func (r *upRun) loads(t *testing.T, validator string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(string(r.dir.Node(validator)), "data", "loads"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(content)), " ")
}

// signs waits until the rates that a validator was told end with some.
func (r *upRun) signs(t *testing.T, validator, rates string) {
	t.Helper()
	waiting.Until(t, validator+" signs "+rates, func() bool {
		return strings.HasSuffix(" "+r.loads(t, validator), " "+rates)
	})
}

// isRunning says whether there is a process.
func isRunning(pid int) bool {
	return syscall.Kill(pid, 0) == nil
}
