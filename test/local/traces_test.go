// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/trace"
	"github.com/shardyard/shardyard/test/waiting"
)

// checkTraces checks that the nodes of a run that went on from one height to
// another have recorded all that there is, and that it says what the blocks
// waited for.
func checkTraces(t *testing.T, stateDir string, from, to uint64) {
	t.Helper()
	spans, err := local.ReadSpans(stateDir, "small")
	if err != nil {
		t.Fatal(err)
	}
	checkSpans(t, spans)
	stdout, code := shardyard(t, "trace", "critical-path", "--network", "small", "--state-dir", stateDir, "-o", "json")
	var report trace.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 {
		t.Fatalf("trace critical-path exits with %d: %v\n%s", code, err, stdout)
	}
	// The nodes went on for a moment after the run had last looked at them.
	if report.Blocks == 0 || report.FirstHeight <= from || report.LastHeight < to-min(to, 3) {
		t.Fatalf("the report is of %d blocks from %d to %d, the run went from %d to %d",
			report.Blocks, report.FirstHeight, report.LastHeight, from, to)
	}
	several := 0
	for _, path := range report.Paths {
		var sum time.Duration
		for _, segment := range path.Segments {
			sum += segment.Duration()
		}
		if sum != path.Duration() || len(path.Segments) == 0 {
			t.Errorf("height %d took %s, its %d segments %s", path.Height, path.Duration(), len(path.Segments), sum)
		}
		if len(path.Segments) > 1 {
			several++
		}
	}
	// Of two blocks that become final at once, as when nodes catch up after a start, the
	// second waits for nothing but its own storing.
	if 2*several < len(report.Paths) {
		t.Errorf("of %d paths, %d have more than one segment", len(report.Paths), several)
	}
}

// checkExemplars checks that each histogram that leads to traces does, while the network
// runs: to one that nodes have sent spans of.
func checkExemplars(t *testing.T, network *command) {
	t.Helper()
	histograms := []string{
		"shardnode_block_time_seconds", "shardnode_finality_lag_seconds", "shardnode_execution_seconds", "shardnode_witness_bytes",
		"shardnode_witness_make_seconds", "shardnode_witness_receive_seconds", "shardnode_witness_validation_seconds",
	}
	for _, histogram := range histograms {
		waiting.Until(t, histogram+" leads to a trace that nodes have sent", func() bool {
			kept, err := os.ReadFile(filepath.Join(network.stateDir, "small", "spans.otlp"))
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(network.exemplars(t, histogram), func(exemplar exemplar) bool {
				trace, err := hex.DecodeString(exemplar.Labels.TraceID)
				if err != nil || len(trace) != 16 || exemplar.Labels.Height == 0 {
					t.Fatalf("an exemplar of %s is %+v (%v)", histogram, exemplar, err)
				}
				return bytes.Contains(kept, trace)
			})
		})
	}
}

// exemplar is a measurement that names a trace.
type exemplar struct {
	Labels struct {
		TraceID string `json:"trace_id"`
		Height  uint64 `json:"height,string"`
	} `json:"labels"`
}

// exemplars are those that the page knows of a histogram.
func (c *command) exemplars(t *testing.T, histogram string) []exemplar {
	t.Helper()
	address := c.runtime(t).Page + "/api/v1/query_exemplars?query=" + histogram + "_bucket"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Data []struct {
			Exemplars []exemplar `json:"exemplars"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	var all []exemplar
	for _, series := range answer.Data {
		all = append(all, series.Exemplars...)
	}
	return all
}

// checkSpans checks that all five validators recorded, and somebody each name.
func checkSpans(t *testing.T, spans []trace.Span) {
	t.Helper()
	recorded, nodes := map[string]bool{}, map[string]bool{}
	for _, span := range spans {
		recorded[span.Name], nodes[span.Node] = true, true
		if span.End.Before(span.Begin) || span.Network != "small" || span.Region != "local" {
			t.Fatalf("a span is %+v", span)
		}
	}
	// A leader waits for the earliest time of its block only if it is fast.
	recorded["pace"] = true
	for _, name := range trace.Names() {
		if !recorded[name] {
			t.Errorf("no node recorded a span %s", name)
		}
	}
	if len(nodes) != 5 {
		t.Errorf("spans are of %v, want all five validators", nodes)
	}
}
