// SPDX-License-Identifier: Apache-2.0

package chain_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	// As the node writes them: the type of a counter is told without _total.
	client := newNode(t, "GET /metrics", answer(http.StatusOK, `# HELP shardnode_pool_rejected Transactions refused.
# TYPE shardnode_pool_rejected counter
shardnode_pool_rejected_total{network="n",reason="full"} 3
# HELP shardnode_execution_seconds Time.
# TYPE shardnode_execution_seconds histogram
shardnode_execution_seconds_sum{network="n"} 0.5
shardnode_execution_seconds_count{network="n"} 2
shardnode_execution_seconds_bucket{le="0.1",network="n"} 1 # {trace_id="00000000000000000000000000000007",height="7"} 0.05 12.5
shardnode_execution_seconds_bucket{le="+Inf",network="n"} 2 # {trace_id="00000000000000000000000000000008",height="8"} 0.45 12.75
# TYPE shardnode_link_bytes counter
shardnode_link_bytes_total{network="n",peer_region="east \"1\" # {2} 3"} 5
# EOF
`))
	metrics, err := client.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := metrics["shardnode_pool_rejected_total"].GetMetric()
	if len(refused) != 1 || refused[0].GetUntyped().GetValue() != 3 {
		t.Errorf("the counter is %v", refused)
	}
	executions := metrics["shardnode_execution_seconds"].GetMetric()
	if len(executions) != 1 || executions[0].GetHistogram().GetSampleCount() != 2 || executions[0].GetHistogram().GetSampleSum() != 0.5 {
		t.Errorf("the histogram is %v", executions)
	}
	if buckets := executions[0].GetHistogram().GetBucket(); len(buckets) != 2 || buckets[0].GetCumulativeCount() != 1 {
		t.Errorf("the histogram has the buckets %v", buckets)
	}
	links := metrics["shardnode_link_bytes_total"].GetMetric()
	if len(links) != 1 || links[0].GetLabel()[1].GetValue() != `east "1" # {2} 3` || links[0].GetUntyped().GetValue() != 5 {
		t.Errorf("what looks like an exemplar in a label is %v", links)
	}
}

// Of what a node tells, only the counters are read that somebody wants.
func TestCountersOf(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /metrics", answer(http.StatusOK, `# TYPE shardnode_pool_rejected counter
shardnode_pool_rejected_total{network="n",reason="full"} 3 # {trace_id="7"} 1
shardnode_pool_rejected_total{network="n",reason="nonce"} 4
# TYPE shardnode_height gauge
shardnode_height 7
shardnode_pool_rejected_total_of_others{reason="full"} not a number
# EOF
`))
	metrics, err := client.CountersOf(t.Context(), "shardnode_pool_rejected_total", "shardnode_produced_failures_total")
	if err != nil {
		t.Fatal(err)
	}
	if refused := metrics["shardnode_pool_rejected_total"].GetMetric(); len(metrics) != 1 || len(refused) != 2 ||
		refused[0].GetUntyped().GetValue() != 3 || refused[1].GetUntyped().GetValue() != 4 {
		t.Errorf("the metrics are %v", metrics)
	}
}

func TestMetricsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"no metrics": {answer(http.StatusNotFound, ""), "/metrics: "},
		"no text":    {answer(http.StatusOK, "<html>"), "decode metrics: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newNode(t, "GET /metrics", test.answer)
			if metrics, err := client.CountersOf(t.Context(), "shardnode_height"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the counters are %v, and the error is %v, want it to say %q", metrics, err, test.want)
			}
			if metrics, err := client.Metrics(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the metrics are %v and the error is %v, want one that says %q", metrics, err, test.want)
			}
		})
	}
}
