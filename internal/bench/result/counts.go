// SPDX-License-Identifier: Apache-2.0

package result

// Metrics of nodes that figures are made of.
const (
	// TransfersMetric counts each executed transfer at one node.
	TransfersMetric = "shardnode_produced_transfers_total"
	// SentMetric counts the bytes that a node sent to others.
	SentMetric = "runtime_outbound_bandwidth_total"
	// ReceivedMetric counts the bytes that a node received from others.
	ReceivedMetric = "runtime_inbound_bandwidth_total"
	// ChecksMetric counts the chunk headers that a node checked as a member of their
	// committee, of kinds CheckEndorsed and CheckRefused.
	ChecksMetric = "shardnode_endorsements_total"
	// FailuresMetric counts, at one node each, the transactions of chunks that failed when
	// these were executed, by reason.
	FailuresMetric = "shardnode_produced_failures_total"
	// RefusalsMetric counts the transactions that pools did not take, or kept for too long,
	// by reason.
	RefusalsMetric = "shardnode_pool_rejected_total"

	// ExecutionMetric is of chunks of the own shard, in seconds.
	ExecutionMetric = "shardnode_execution_seconds"
	// FinalityLagMetric is of blocks, in seconds.
	FinalityLagMetric = "shardnode_finality_lag_seconds"
	// WitnessBytesMetric is of state witnesses that a node made, in bytes; the others
	// are of their making, their arrival and their validation, in seconds.
	WitnessBytesMetric      = "shardnode_witness_bytes"
	WitnessMakeMetric       = "shardnode_witness_make_seconds"
	WitnessReceiveMetric    = "shardnode_witness_receive_seconds"
	WitnessValidationMetric = "shardnode_witness_validation_seconds"
)

// Kinds of what nodes checked.
const (
	CheckEndorsed = "endorsed"
	CheckRefused  = "refused"
)

// Counts are what all nodes together counted over the measurement. They were
// asked at its beginning and at its end, as soon as these were seen.
type Counts struct {
	BeginMs    int64       `json:"beginMs"`
	EndMs      int64       `json:"endMs"`
	Counters   []Counter   `json:"counters"`
	Histograms []Histogram `json:"histograms"`
}

// Counter is by how much a counter rose.
type Counter struct {
	// Metric is its name in the nodes' metrics.
	Metric string `json:"metric"`
	// Kind is the value of the label that tells series of one metric apart, such as
	// why transfers were refused; empty of metrics without one.
	Kind  string  `json:"kind,omitempty"`
	Count float64 `json:"count"`
}

// Histogram is what was observed.
type Histogram struct {
	// Metric is its name in the nodes' metrics.
	Metric string `json:"metric"`
	// Count is the number of observations, and Sum what they add up to.
	Count float64 `json:"count"`
	Sum   float64 `json:"sum"`
	// Buckets are in the order of their bounds.
	Buckets []Bucket `json:"buckets"`
}

// Bucket is how many observations were above the bound of the bucket before, and
// not above its own. Those above the last bound are in none.
type Bucket struct {
	Bound float64 `json:"bound"`
	Count float64 `json:"count"`
}

// Counter is by how much a counter rose, of all kinds together; false when that is
// not known.
func (c *Counts) Counter(metric string) (count float64, known bool) {
	if c == nil {
		return 0, false
	}
	for i := range c.Counters {
		if c.Counters[i].Metric == metric {
			count, known = count+c.Counters[i].Count, true
		}
	}
	return count, known
}

// Histogram is what was observed of a metric; nil when that is not known.
func (c *Counts) Histogram(metric string) *Histogram {
	if c == nil {
		return nil
	}
	for i := range c.Histograms {
		if c.Histograms[i].Metric == metric {
			return &c.Histograms[i]
		}
	}
	return nil
}
