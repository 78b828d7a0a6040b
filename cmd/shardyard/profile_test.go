// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/test/adminapi"
)

// runNodes writes the folder of a network that runs, whose nodes serve the parts of
// the admin API that commands need, and returns the folder of networks.
func runNodes(t *testing.T, nodes ...string) string {
	t.Helper()
	stateDir := t.TempDir()
	type process struct {
		Name  string `json:"name"`
		PID   int    `json:"pid"`
		HTTP  string `json:"http"`
		Admin string `json:"admin"`
	}
	var processes []process
	for _, name := range nodes {
		folder := filepath.Join(stateDir, "net", "nodes", name)
		key, err := keys.Generate()
		if err != nil {
			t.Fatal(err)
		}
		token := keys.NewAdminToken()
		keep(t, filepath.Join(folder, "validator.key"), key.File())
		keep(t, filepath.Join(folder, "admin.token"), []byte(token))
		listener, err := adminapi.Listen(t.Context(), "127.0.0.1:0", key)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(serveAdmin(t, name, token))
		_ = server.Listener.Close()
		server.Listener = listener
		server.Start()
		t.Cleanup(server.Close)
		processes = append(processes, process{name, 1, "127.0.0.1:1", listener.Addr().String()})
	}
	processes = append(processes, process{Name: "net-gone"})
	content, err := json.Marshal(map[string]any{"network": "net", "validators": processes})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, filepath.Join(stateDir, "net", "runtime.json"), content)
	keep(t, filepath.Join(stateDir, "net", "genesis.json"), []byte(`{}`))
	return stateDir
}

func keep(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serveAdmin serves what a node does that takes profiles at once, has a sample in each,
// and logs what it is told to.
func serveAdmin(t *testing.T, name, token string) http.Handler {
	t.Helper()
	level := "info"
	mux := http.NewServeMux()
	handle := func(pattern string, then http.HandlerFunc) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+token {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			then(w, r)
		})
	}
	how, reason := `"kind": "CPU", "frequencyHertz": 250, "intervalBytes": null`, "null"
	status := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"profile": {"stage": "Ready", %s, "firstHeight": 12, "lastHeight": 14,
			"samples": 3, "reason": %s}}`, how, reason)
	}
	handle("PUT /admin/profile", func(w http.ResponseWriter, r *http.Request) {
		var wanted chain.ProfileWanted
		if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
			t.Error(err)
		}
		if wanted.Seconds == 7 {
			w.WriteHeader(http.StatusConflict)
			_, _ = fmt.Fprint(w, `{"error": "it takes a profile already"}`)
			return
		}
		if wanted.Blocks == 9 {
			reason = `"the last block was not finalised in time"`
		}
		if wanted.Kind == chain.ProfileAllocations {
			how = `"kind": "Allocations", "frequencyHertz": null, "intervalBytes": 524288`
		}
		status(w, r)
	})
	handle("GET /admin/profile", status)
	handle("DELETE /admin/profile", status)
	handle("GET /admin/profile/content", func(w http.ResponseWriter, _ *http.Request) {
		function := &profile.Function{ID: 1, Name: "execute"}
		location := &profile.Location{ID: 1, Line: []profile.Line{{Function: function}}}
		content := &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}},
			PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
			Function:   []*profile.Function{function},
			Location:   []*profile.Location{location},
			Sample: []*profile.Sample{{
				Location: []*profile.Location{location}, Value: []int64{3}, Label: map[string][]string{"node": {name}},
			}},
		}
		if err := content.Write(w); err != nil {
			t.Error(err)
		}
	})
	handle("GET /admin/log", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"level": %q}`, level) })
	handle("PUT /admin/log", func(w http.ResponseWriter, r *http.Request) {
		var told struct{ Level string }
		if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
			t.Error(err)
		}
		level = told.Level
		_, _ = fmt.Fprintf(w, `{"level": %q}`, level)
	})
	return mux
}

func TestProfileOfNodes(t *testing.T) {
	t.Parallel()
	stateDir := runNodes(t, "net-s0-p0", "net-s0-p1")
	const line = ": 3 samples, 250 per second of CPU time, from block 12 to 14"
	for name, test := range map[string]struct {
		args  []string
		says  []string
		file  string
		nodes []string
	}{
		"one": {
			[]string{"--blocks", "2", "--node", "net-s0-p1"},
			[]string{"net-s0-p1" + line},
			"profile-net-net-s0-p1-12",
			[]string{"net-s0-p1"},
		},
		"all that run": {
			[]string{"--seconds", "1"},
			[]string{"net-s0-p0" + line, "net-s0-p1" + line},
			"profile-net-merged-12",
			[]string{"net-s0-p0", "net-s0-p1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			file := filepath.Join(folder, test.file)
			want := append(slices.Clone(test.says), file+".pb.gz", file+".html")
			printed := shardyard(t, append([]string{"profile", "--state-dir", stateDir, "--folder", folder}, test.args...)...)
			if got := strings.Split(strings.TrimSpace(printed), "\n"); !slices.Equal(got, want) {
				t.Errorf("prints %q, want %q", got, want)
			}
			content, err := os.ReadFile(file + ".pb.gz")
			if err != nil {
				t.Fatal(err)
			}
			read, err := profile.Parse(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			var nodes []string
			for _, sample := range read.Sample {
				nodes = append(nodes, sample.Label["node"]...)
			}
			if slices.Sort(nodes); !slices.Equal(nodes, test.nodes) {
				t.Errorf("samples are of %q, want %q", nodes, test.nodes)
			}
		})
	}
}

func TestProfileOfAllocations(t *testing.T) {
	t.Parallel()
	stateDir, folder := runNodes(t, "net-s0-p0"), t.TempDir()
	printed := shardyard(t, "profile", "--state-dir", stateDir, "--folder", folder, "--kind", "Allocations", "--blocks", "1")
	file := filepath.Join(folder, "allocations-net-net-s0-p0-12")
	want := "net-s0-p0: 3 samples, one in 512 KiB allocated, from block 12 to 14\n" + file + ".pb.gz\n" + file + ".html\n"
	if printed != want {
		t.Errorf("prints %q, want %q", printed, want)
	}
	kinds := []string{"__completeNoDesc", "profile", "--kind", ""}
	if got := completions(t, kinds); !slices.Equal(got, []string{"Allocations", "CPU"}) {
		t.Errorf("kinds are completed with %q", got)
	}
}

// A profile that is not of all that was asked for says so.
func TestProfileThatEndedEarly(t *testing.T) {
	t.Parallel()
	stateDir := runNodes(t, "net-s0-p0")
	printed := shardyard(t, "profile", "--state-dir", stateDir, "--folder", t.TempDir(), "--blocks", "9")
	if want := "from block 12 to 14; ended early: the last block was not finalised in time\n"; !strings.Contains(printed, want) {
		t.Errorf("prints %q, want %q", printed, want)
	}
}

func TestProfileRefusals(t *testing.T) {
	t.Parallel()
	stateDir := runNodes(t, "net-s0-p0")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"nothing":         {nil, "at least one of the flags in the group [blocks seconds] is required"},
		"both":            {[]string{"--blocks", "1", "--seconds", "1"}, "none of the others can be"},
		"taken already":   {[]string{"--seconds", "7"}, "node net-s0-p0 takes no profile: PUT https://"},
		"too long":        {[]string{"--seconds", "61"}, "error: --seconds must be 1 to 60, is 61"},
		"no seconds":      {[]string{"--seconds", "0"}, "error: --seconds must be 1 to 60, is 0"},
		"no blocks":       {[]string{"--blocks", "0"}, "error: --blocks must be 1 to 6000, is 0"},
		"too many blocks": {[]string{"--blocks", "6001"}, "error: --blocks must be 1 to 6000, is 6001"},
		"no such kind":    {[]string{"--kind", "heap", "--blocks", "1"}, `error: unknown kind of profile "heap": want CPU, Allocations`},
		"no such node":    {[]string{"--blocks", "1", "--node", "net-s9"}, "there is no node net-s9, but net-s0-p0, net-gone"},
		"it does not run": {[]string{"--blocks", "1", "--node", "net-gone"}, "network net: node net-gone does not run"},
		"no such network": {[]string{"--blocks", "1", "--network", "other"}, "does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := shardyardFails(t, append([]string{"profile", "--state-dir", stateDir, "--folder", t.TempDir()}, test.args...)...)
			if !strings.Contains(strings.Join(got, "\n"), test.want) {
				t.Errorf("prints %q, want %q", got, test.want)
			}
		})
	}
}

func TestLogOfNodes(t *testing.T) {
	t.Parallel()
	stateDir := runNodes(t, "net-s0-p0", "net-s0-p1")
	log := func(args ...string) string {
		return shardyard(t, append([]string{"log", "--state-dir", stateDir}, args...)...)
	}
	for _, step := range []struct {
		args []string
		want string
	}{
		{nil, "net-s0-p0: info\nnet-s0-p1: info\n"},
		{[]string{"--node", "net-s0-p1", "--level", "debug"}, "net-s0-p1: debug\n"},
		{nil, "net-s0-p0: info\nnet-s0-p1: debug\n"},
		{[]string{"--level", "warn"}, "net-s0-p0: warn\nnet-s0-p1: warn\n"},
	} {
		if got := log(step.args...); got != step.want {
			t.Errorf("%q prints %q, want %q", step.args, got, step.want)
		}
	}
	want := `error: unknown level "loud": want error, warn, info, debug, trace`
	if got := shardyardFails(t, "log", "--state-dir", stateDir, "--level", "loud"); len(got) != 1 || got[0] != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	nodes := []string{"__completeNoDesc", "log", "--state-dir", stateDir, "--node", ""}
	if got := completions(t, nodes); !slices.Equal(got, []string{"net-gone", "net-s0-p0", "net-s0-p1"}) {
		t.Errorf("nodes are completed with %q", got)
	}
}
