// SPDX-License-Identifier: Apache-2.0

package running

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/local/statedir"
)

// keep writes what is kept of a network, which runs if there are processes.
func keep(t *testing.T, stateDir, network, processes string) {
	t.Helper()
	dir := statedir.NetworkDir(filepath.Join(stateDir, network))
	if err := os.MkdirAll(string(dir), statedir.DirMode); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{dir.Genesis(): `{"network": "` + network + `", "seed": "5e"}`}
	if processes != "" {
		files[dir.Runtime()] = processes
	}
	for path, content := range files {
		if err := os.WriteFile(path, []byte(content), statedir.FileMode); err != nil {
			t.Fatal(err)
		}
	}
}

// endedPID is that of a process that is no more.
func endedPID(t *testing.T) int {
	t.Helper()
	command := exec.CommandContext(t.Context(), "true")
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	return command.Process.Pid
}

const oneOfTwo = `{"network": "one", "validators": [
	{"name": "a", "pid": 0, "http": "127.0.0.1:1"}, {"name": "b", "pid": 7, "http": "127.0.0.1:2"}]}`

func TestFind(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	refused := func(network, want string) {
		t.Helper()
		if _, err := Find(stateDir, network); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is refused with %v, want %q", network, err, want)
		}
	}
	refused("", "no network of "+stateDir+" runs")
	refused("one", "does not run")

	keep(t, stateDir, "one", oneOfTwo)
	keep(t, stateDir, "stopped", "")
	// Nothing of a network is in a file, and whoever was killed has left what ran.
	if err := os.WriteFile(filepath.Join(stateDir, "notes.txt"), nil, statedir.FileMode); err != nil {
		t.Fatal(err)
	}
	keep(t, stateDir, "killed", fmt.Sprintf(`{"network": "killed", "pid": %d, "validators": [
		{"name": "a", "pid": 7, "http": "127.0.0.1:4"}]}`, endedPID(t)))
	// Of another one that was killed, some other process has the number.
	keep(t, stateDir, "long-gone", fmt.Sprintf(`{"network": "long-gone", "pid": %d, "validators": [
		{"name": "a", "pid": 7, "http": "127.0.0.1:5"}]}`, os.Getpid()))
	for _, name := range []string{"", "one"} {
		running, err := Find(stateDir, name)
		if err != nil {
			t.Fatal(err)
		}
		if running.Name != "one" || running.Seed != "5e" || !slices.Equal(running.Nodes, []string{"127.0.0.1:2"}) {
			t.Errorf("the network is %+v", running)
		}
	}
	refused("stopped", "does not run")
	refused("killed", "does not run: what ran it was process ")
	refused("long-gone", "does not run: what ran it was process ")
	if names, err := statedir.Names(stateDir); err != nil || !slices.Equal(names, []string{"killed", "long-gone", "one", "stopped"}) {
		t.Errorf("the networks are %q (%v)", names, err)
	}

	keep(t, stateDir, "two", `{"network": "two", "validators": [{"name": "a", "pid": 0, "http": "127.0.0.1:3"}]}`)
	refused("", "several networks of "+stateDir+" run, name one: one, two")
	refused("two", "no validator of two runs")
	if _, err := statedir.Names(filepath.Join(stateDir, "none")); err != nil {
		t.Errorf("a folder that is not there has %v", err)
	}
}
