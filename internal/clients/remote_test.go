// SPDX-License-Identifier: Apache-2.0

package clients_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/clients"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/scripts"
)

// served is a loader that is a script, and whoever asks for it.
type served struct {
	*clients.Remote

	log    *output.Buffer
	socket string
	end    context.CancelFunc
	ended  chan error
}

// serve serves a script as a node program.
func serve(t *testing.T, script string) *served {
	t.Helper()
	folder := t.TempDir()
	program := &clients.Program{Path: filepath.Join(folder, "shardnode"), Genesis: filepath.Join(folder, "genesis.json")}
	if script != "" {
		scripts.Write(t, program.Path, "#!/bin/sh\n"+script)
	}
	if err := os.WriteFile(program.Genesis, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &served{log: &output.Buffer{}, socket: filepath.Join(folder, "loader.sock"), end: cancel, ended: make(chan error, 1)}
	program.Log, s.Remote = s.log, clients.NewRemote(s.socket)
	// One that was killed leaves its socket.
	if err := os.WriteFile(s.socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- clients.Serve(ctx, program, s.socket) }()
	t.Cleanup(func() {
		cancel()
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
	})
	if script != "" {
		await(t, "a loader", func() bool { return s.Ready(t.Context()) == nil })
	}
	return s
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(30 * time.Second); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// step is one of ten users.
func step() *clients.Step {
	return &clients.Step{
		Users: 10, EveryMilliseconds: 500, DurationSeconds: 7, StartAtMs: 1234, Nodes: []string{"http://a:1", "http://b:2"},
	}
}

// What a loader prints arrives, as it was told to load; what it says besides is in
// the log.
func TestARemoteLoader(t *testing.T) {
	t.Parallel()
	s := serve(t, `echo "$@"; echo "1 s: offered 10" >&2`)
	said, err := s.Run(t.Context(), step())
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join(step().Arguments("GENESIS"), " ")
	before, after, _ := strings.Cut(want, "GENESIS")
	if got := string(said); !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after+"\n") {
		t.Errorf("the loader was told %q, want %q", got, want)
	}
	if !strings.Contains(s.log.String(), "1 s: offered 10") {
		t.Error("the log does not say how far it was")
	}
}

// A loader that fails says why, also where its last line says how to see more.
func TestARemoteLoaderThatFails(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`echo "1 s: offered 10" >&2
echo "error: start: 1234 ms since 1970 is over" >&2
exit 1`: "ended with an error: exit status 1: error: start: 1234 ms since 1970 is over",
		`echo "thread 'main' panicked at a.rs:1:2:" >&2
echo "no folder" >&2
echo "note: see more" >&2
exit 101`: "ended with an error: exit status 101: no folder",
	} {
		s := serve(t, script)
		if _, err := s.Run(t.Context(), step()); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// An image without a node program is found before anything begins.
func TestAnImageWithoutTheProgram(t *testing.T) {
	t.Parallel()
	s := serve(t, "")
	var err error
	await(t, "an answer", func() bool {
		err = s.Ready(t.Context())
		return err != nil && !strings.Contains(err.Error(), "no answer")
	})
	if !strings.HasPrefix(err.Error(), "find the node program: ") {
		t.Errorf("the error is %v", err)
	}
}

// One loader runs at a time, and ends with whoever asked for it.
func TestARemoteLoaderEndsWithItsAsker(t *testing.T) {
	t.Parallel()
	s := serve(t, `trap "" TERM; echo loads >&2; exec sleep 600`)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, step())
		asked <- err
	}()
	await(t, "the loader", func() bool { return strings.Contains(s.log.String(), "loads") })
	if _, err := s.Run(t.Context(), step()); err == nil || err.Error() != "another loader runs" {
		t.Errorf("the error is %v, want that another loader runs", err)
	}
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	// Another one can run as soon as the first has ended.
	brief, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	await(t, "the end of the loader", func() bool {
		short, cancel := context.WithTimeout(brief, 200*time.Millisecond)
		defer cancel()
		_, err := s.Run(short, step())
		// Once all of the time is over, nothing is asked any more.
		return errors.Is(err, context.DeadlineExceeded) && brief.Err() == nil
	})
}

// A container that ends in the middle is no silence.
func TestALoaderWhoseContainerEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, `echo loads >&2; exec sleep 600`)
	asked := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), step())
		asked <- err
	}()
	await(t, "the loader", func() bool { return strings.Contains(s.log.String(), "loads") })
	s.end()
	if err := <-asked; err == nil || !strings.HasPrefix(err.Error(), "its container gave no answer: ") {
		t.Errorf("the error is %v", err)
	}
}
