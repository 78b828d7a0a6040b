// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/wholefile"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/smallnetwork"
)

// aged makes the network of a manifest and has its genesis document be as old
// as is said.
func aged(t *testing.T, stateDir, manifest string, age time.Duration) {
	t.Helper()
	network, err := openNetwork(manifest, stateDir, false)
	if err != nil {
		t.Fatal(err)
	}
	network.Genesis.CreatedAtMs = time.Now().Add(-age).UnixMilli()
	content, err := json.Marshal(network.Genesis)
	if err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Write(network.Dir.Genesis(), content, statedir.FileMode); err != nil {
		t.Fatal(err)
	}
	if err := network.Close(); err != nil {
		t.Fatal(err)
	}
}

// A minute's lifetime ends the run by itself, also one that goes on.
func TestLifetimeEndsTheRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		manifest string
		says     string
		kept     bool
	}{
		"stop": {
			"spec:\n  volume: {size: 1Gi}\n  lifetime: {durationSeconds: 60, action: Stop}\n",
			"the lifetime of the network has ended; it is kept in ", true,
		},
		"delete": {
			"spec:\n  lifetime: {durationSeconds: 60, action: Delete}\n",
			"the lifetime of the network has ended; removing it from ", false,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stateDir, manifest := t.TempDir(), smallnetwork.Manifest(t, "spec:\n", test.manifest)
			// The rest is enough to start, and to do something, on a busy machine.
			aged(t, stateDir, manifest, 20*time.Second)
			run := startUp(t, stateDir, Options{Manifest: manifest}, nil)
			summary, err := run.end(t)
			if err != nil {
				t.Fatal(err)
			}
			if summary.Executed == 0 {
				t.Errorf("the run did nothing: %+v", *summary)
			}
			run.says(t, test.says)
			if _, err := os.Stat(run.dir.Genesis()); (err == nil) != test.kept {
				t.Errorf("the network is kept: %v, want %v", err, test.kept)
			}
		})
	}
}

// What is over does not go on, and says what to do.
func TestEndedLifetime(t *testing.T) {
	t.Parallel()
	stateDir, manifest := t.TempDir(), smallnetwork.Manifest(t, "spec:\n", "spec:\n  lifetime: {durationSeconds: 60, action: Delete}\n")
	aged(t, stateDir, manifest, time.Hour)
	run := startUp(t, stateDir, Options{Manifest: manifest}, nil)
	_, err := run.end(t)
	resume, ok := errors.AsType[*statedir.ResumeError](err)
	if !ok || !strings.Contains(resume.Error(), ": raise spec.lifetime.durationSeconds or leave out spec.lifetime") {
		t.Errorf("the error is %v, want one that says how to go on", err)
	}
	if _, err := os.Stat(run.dir.Genesis()); err != nil {
		t.Errorf("a network that was not asked to run is gone: %v", err)
	}
}

// One that failed stays: its files say why.
func TestFailedNetworkStays(t *testing.T) {
	t.Parallel()
	stateDir, manifest := t.TempDir(), smallnetwork.Manifest(t, "spec:\n", "spec:\n  lifetime: {durationSeconds: 60, action: Delete}\n")
	aged(t, stateDir, manifest, time.Hour)
	network, err := openNetwork(manifest, stateDir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := network.Close(); err != nil {
			t.Error(err)
		}
	}()
	var progress output.Buffer
	if err := network.leave(console.New(&progress), errors.New("failed")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(network.Dir.Genesis()); err != nil || !strings.Contains(progress.String(), "because it failed") {
		t.Errorf("the network is kept: %v, and the progress says %q", err, &progress)
	}
}
