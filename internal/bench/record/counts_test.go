// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

// counting is a node that counts so much in each second from when it was asked
// first.
type counting struct {
	asked int
	scale uint64
	fails bool
	again bool
}

func (c *counting) Metrics(context.Context) (chain.Metrics, error) {
	c.asked++
	if c.fails && c.asked == 2 {
		return nil, errors.New("no answer")
	}
	count := uint64(c.asked) * c.scale
	if c.again && c.asked == 2 {
		count = 0
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(strings.NewReader(fmt.Sprintf(`# TYPE shardnode_produced_transfers counter
shardnode_produced_transfers_total{node="n"} %[1]d
# TYPE shardnode_pool_rejected counter
shardnode_pool_rejected_total{node="n",reason="full"} %[1]d
# TYPE shardnode_height gauge
shardnode_height{node="n"} %[1]d
# TYPE shardnode_execution_seconds histogram
shardnode_execution_seconds_sum %[1]d
shardnode_execution_seconds_count %[2]d
shardnode_execution_seconds_bucket{le="0.5"} %[1]d
shardnode_execution_seconds_bucket{le="1"} %[2]d
shardnode_execution_seconds_bucket{le="+Inf"} %[2]d
`, count, 3*count)))
}

func (c *counting) CountersOf(ctx context.Context, _ ...string) (chain.Metrics, error) {
	return c.Metrics(ctx)
}

// counted has two nodes counted every second of a run, and returns its record.
func counted(t *testing.T, nodes ...*counting) result.Run {
	t.Helper()
	recorder := newRecorder()
	tellers := make([]record.Teller, len(nodes))
	for i, node := range nodes {
		tellers[i] = record.Teller{Name: fmt.Sprintf("n%d", i), Metrics: node}
	}
	for second := range int64(20) {
		if err := recorder.Block(block(uint64(second), second)); err != nil {
			t.Fatal(err)
		}
		recorder.Count(t.Context(), began.Add(time.Duration(second)*time.Second), tellers)
	}
	return recorder.Run("")
}

func TestCounts(t *testing.T) {
	t.Parallel()
	first, second := &counting{scale: 10}, &counting{scale: 1}
	run := counted(t, first, second)
	at := began.UnixMilli()
	want := &result.Counts{
		// Measured from the 5th to the 15th second.
		BeginMs: at + 5000, EndMs: at + 15_000,
		Counters: []result.Counter{
			{Metric: "shardnode_pool_rejected_total", Kind: "full", Count: 11},
			{Metric: "shardnode_produced_transfers_total", Count: 11},
		},
		Histograms: []result.Histogram{{
			Metric: "shardnode_execution_seconds", Count: 33, Sum: 11,
			Buckets: []result.Bucket{{Bound: 0.5, Count: 11}, {Bound: 1, Count: 22}},
		}},
	}
	if !reflect.DeepEqual(run.Counts, want) {
		t.Errorf("the counts are %+v, want %+v", run.Counts, want)
	}
	if first.asked != 2 || second.asked != 2 {
		t.Errorf("the nodes were asked %d and %d times, want 2 each", first.asked, second.asked)
	}
	if len(run.Notes) > 0 {
		t.Errorf("the notes are %q", run.Notes)
	}
}

func TestCountsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		node *counting
		want string
	}{
		"one does not answer":         {&counting{scale: 1, fails: true}, "n1: no answer"},
		"one starts again in between": {&counting{scale: 20, again: true}, "n1: counters began anew"},
		"one that counts less does":   {&counting{scale: 5, again: true}, "n1: counters began anew"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := counted(t, &counting{scale: 10}, test.node)
			if run.Counts != nil || len(run.Notes) != 1 || !strings.Contains(run.Notes[0], test.want) {
				t.Errorf("the counts are %+v with the notes %q, want none and a note that says %q", run.Counts, run.Notes, test.want)
			}
		})
	}
}
