// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

// chainLines are the spans of a chain's blocks from height 1 on, one each second.
func chainLines(network string, chain byte, beginSeconds, heights int) string {
	var lines strings.Builder
	for height := 1; height <= heights; height++ {
		id := hex.EncodeToString(append(make([]byte, 14), chain, byte(height)))
		span := func(name string, begin, end int) string {
			ns := func(ms int) int { return (1_000*(beginSeconds+height) + ms) * 1_000_000 }
			return fmt.Sprintf(`{"traceId": %q, "name": %q, "startTimeUnixNano": "%d", "endTimeUnixNano": "%d",
				"attributes": [{"key": "height", "value": {"intValue": "%d"}}]}`, id, name, ns(begin), ns(end), height)
		}
		spans := []string{span("block", 0, 1_000), span("propose", 50, 100), span("finalise", 100, 900), span("record_block", 900, 1_000)}
		document := fmt.Sprintf(`{"resourceSpans": [{"resource": {"attributes": [
			{"key": "service.name", "value": {"stringValue": "shardnode"}},
			{"key": "node", "value": {"stringValue": "n0"}}, {"key": "network", "value": {"stringValue": %q}}]},
			"scopeSpans": [{"spans": [%s]}]}]}`, network, strings.Join(spans, ","))
		lines.WriteString(strings.NewReplacer("\n", "", "\t", "").Replace(document) + "\n")
	}
	return lines.String()
}

// tracedNetwork writes the spans of blocks 1 to 3 of a network, where the state
// of a network of this machine is, and returns the state directory.
func tracedNetwork(t *testing.T, network string) string {
	t.Helper()
	stateDir := t.TempDir()
	if err := os.Mkdir(filepath.Join(stateDir, network), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(stateDir, network, "spans.otlp"), []byte(chainLines(network, network[0], 0, 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	return stateDir
}

func TestCriticalPath(t *testing.T) {
	t.Parallel()
	stateDir := tracedNetwork(t, "net")
	ofRun := []string{"--network", "net", "--state-dir", stateDir}
	file := filepath.Join(stateDir, "net", "spans.otlp")
	for name, test := range map[string]struct {
		args []string
		want []uint64
	}{
		"of a run":           {ofRun, []uint64{1, 2, 3}},
		"of a file":          {[]string{file}, []uint64{1, 2, 3}},
		"from":               {append([]string{"--from", "2"}, ofRun...), []uint64{2, 3}},
		"to":                 {append([]string{"--to", "2"}, ofRun...), []uint64{1, 2}},
		"last":               {append([]string{"--last", "1"}, ofRun...), []uint64{3}},
		"last of a range":    {append([]string{"--last", "1", "--to", "2"}, ofRun...), []uint64{2}},
		"of another network": {[]string{file, "--network", "other"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var report trace.Report
			output := shardyard(t, append([]string{"trace", "critical-path", "-o", "json"}, test.args...)...)
			if err := json.Unmarshal([]byte(output), &report); err != nil {
				t.Fatal(err)
			}
			var heights []uint64
			for _, path := range report.Paths {
				heights = append(heights, path.Height)
			}
			if !reflect.DeepEqual(heights, test.want) {
				t.Errorf("the heights are %v, want %v", heights, test.want)
			}
		})
	}
	output := shardyard(t, append([]string{"trace", "critical-path"}, ofRun...)...)
	for _, want := range []string{"3 blocks from height 1 to 3\n", "80.0%     800.0     800.0     800.0  consensus\n", "persistence\n"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is missing in\n%s", want, output)
		}
	}
}

// A network that was deleted and made anew has heights of both of its chains in a store.
func TestCriticalPathOfTheNewestChain(t *testing.T) {
	t.Parallel()
	kept := slices.Collect(strings.Lines(chainLines("net", 1, 0, 9) + chainLines("net", 2, 60, 3)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most, err := strconv.Atoi(r.URL.Query().Get("query.num_traces"))
		if err != nil {
			t.Error(err)
		}
		for _, line := range kept[max(0, len(kept)-most):] {
			_, _ = fmt.Fprintf(w, "{\"result\": %s}\n", line)
		}
	}))
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		args          []string
		blocks, notes string
	}{
		"all": {
			nil, "3 blocks from height 1 to 3\n", "traces of an earlier chain of the same name are left out: 9\n",
		},
		"the last of a range": {
			[]string{"--to", "9", "--last", "2"},
			"2 blocks from height 2 to 3\n",
			"traces of an earlier chain of the same name are left out: 9\n",
		},
		"the last, of which there are fewer": {
			[]string{"--last", "5"},
			"3 blocks from height 1 to 3\n",
			"5 traces, as many as were asked for: there may be more of the last 15m0s\n" +
				"traces of an earlier chain of the same name are left out: 2\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			args := append([]string{"shardyard", "trace", "critical-path", "--jaeger", server.URL}, test.args...)
			if code := run(t.Context(), args, &stdout, &stderr); code != 0 || stderr.String() != test.notes {
				t.Errorf("exits with %d and notes %q, want %q", code, &stderr, test.notes)
			}
			if !strings.Contains(stdout.String(), test.blocks) {
				t.Errorf("%q is missing in\n%s", test.blocks, &stdout)
			}
		})
	}
}

// Without the leaders' proposals, it is the times of heights that say which are the last ones.
func TestLastHeightsAreTheNewestOnes(t *testing.T) {
	t.Parallel()
	at := func(height uint64, seconds int64) trace.Span {
		return trace.Span{Name: "block", Height: height, Begin: time.Unix(seconds, 0)}
	}
	// What a node that is behind does for a height is of when that height was new.
	spans := []trace.Span{at(1, 60), at(2, 61), at(8, 8), at(9, 9), at(8, 70)}
	want := []trace.Span{at(1, 60), at(2, 61)}
	if got := lastHeights(spans, 2); !reflect.DeepEqual(got, want) {
		t.Errorf("the last two heights are of %v, want %v", got, want)
	}
}

// A Jaeger has spans of several networks, and may have more than are asked for.
func TestCriticalPathFromAJaeger(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, networks ...string) {
		for _, network := range networks {
			spans, err := os.ReadFile(filepath.Join(tracedNetwork(t, network), network, "spans.otlp"))
			if err != nil {
				t.Error(err)
			}
			for line := range strings.Lines(string(spans)) {
				_, _ = fmt.Fprintf(w, "{\"result\": %s}\n", line)
			}
		}
	}
	for name, test := range map[string]struct {
		networks []string
		last     string
		asked    string
		notes    string
	}{
		"all":      {[]string{"net"}, "0", "1000", ""},
		"the last": {[]string{"net"}, "3", "3", ""},
		"fewer, because of others": {
			[]string{"net", "other"}, "6", "6", "6 traces, as many as were asked for: there may be more of the last 15m0s\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked := r.URL.Query().Get("query.num_traces"); asked != test.asked {
					t.Errorf("is asked for %s traces, want %s", asked, test.asked)
				}
				answer(w, test.networks...)
			}))
			defer server.Close()
			var stdout, stderr bytes.Buffer
			args := []string{"shardyard", "trace", "critical-path", "--jaeger", server.URL, "--network", "net", "--last", test.last}
			if code := run(t.Context(), args, &stdout, &stderr); code != 0 || stderr.String() != test.notes {
				t.Errorf("exits with %d and notes %q, want %q", code, &stderr, test.notes)
			}
			if want := "3 blocks from height 1 to 3\n"; !strings.Contains(stdout.String(), want) {
				t.Errorf("%q is missing in\n%s", want, &stdout)
			}
		})
	}
}

func TestCriticalPathRefuses(t *testing.T) {
	t.Parallel()
	first, second := tracedNetwork(t, "first"), tracedNetwork(t, "second")
	files := []string{filepath.Join(first, "first", "spans.otlp"), filepath.Join(second, "second", "spans.otlp")}
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"nothing to read":    {nil, "name a FILE, a Jaeger, a Tempo, or with --network a network of this machine"},
		"two stores":         {[]string{"--jaeger", "http://a", "--tempo", "http://b"}, "--jaeger and --tempo exclude each other"},
		"a store and a file": {[]string{"--jaeger", "http://a", files[0]}, "name either files, or a Jaeger or a Tempo"},
		"since, of a file":   {[]string{"--since", "1m", files[0]}, "--since is for --jaeger and --tempo"},
		"since tomorrow":     {[]string{"--since", "-1m", "--tempo", "http://a"}, "--since must be positive, is -1m0s"},
		"no address":         {[]string{"--tempo", "a:3200"}, `tempo: "a:3200" is no http:// or https:// URL`},
		"no spans":           {[]string{"--network", "net", "--state-dir", first}, "has no spans: shardyard up keeps them with --trace-"},
		"no file":            {[]string{"none"}, "no such file"},
		"two networks":       {files, "spans are of several networks, choose one with --network: first, second"},
		"a range of nothing": {[]string{"--from", "2", "--to", "1", files[0]}, "--from is 2, above --to, 1"},
		"no rows":            {[]string{"--rows", "0", files[0]}, "--rows must be at least 1, is 0"},
		"less than none":     {[]string{"--last", "-1", files[0]}, "--last must not be negative, is -1"},
		"another format":     {[]string{"-o", "yaml", files[0]}, `unknown output format "yaml"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := shardyardFails(t, append([]string{"trace", "critical-path"}, test.args...)...)
			if !strings.Contains(lines[0], test.want) {
				t.Errorf("the error is %q, want it to say %q", lines, test.want)
			}
		})
	}
}

func TestTraceExport(t *testing.T) {
	t.Parallel()
	stateDir := tracedNetwork(t, "net")
	output := shardyard(t, "trace", "export", "--network", "net", "--state-dir", stateDir, "--last", "1")
	var file struct {
		TraceEvents []struct {
			Arguments struct {
				Height uint64 `json:"height"`
			} `json:"args"`
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal([]byte(output), &file); err != nil || len(file.TraceEvents) == 0 {
		t.Fatalf("the export is %q: %v", output, err)
	}
	for _, event := range file.TraceEvents {
		if height := event.Arguments.Height; height != 0 && height != 3 {
			t.Errorf("an event is of height %d, want the last one, 3", height)
		}
	}
	lines := shardyardFails(t, "trace", "export", "--format", "svg", "--network", "net", "--state-dir", stateDir)
	if want := `unknown format "svg": want perfetto`; !strings.Contains(lines[0], want) {
		t.Errorf("the error is %q, want it to say %q", lines, want)
	}
}
