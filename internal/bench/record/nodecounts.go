// SPDX-License-Identifier: Apache-2.0

package record

import "github.com/shardyard/shardyard/internal/bench/result"

// countsOf has a node's row say what it counted over the measurement, as far as it
// told: others that did not take nothing from it.
func (r *Recorder) countsOf(node *result.Node) {
	if r.begin == nil || r.end == nil {
		return
	}
	begin, end := r.begin.nodes[node.Name], r.end.nodes[node.Name]
	if begin == nil || end == nil {
		return
	}
	node.NetworkSentBytes = riseOf(begin, end, result.SentMetric, "")
	node.NetworkReceivedBytes = riseOf(begin, end, result.ReceivedMetric, "")
	node.ChecksEndorsed = riseOf(begin, end, result.ChecksMetric, result.CheckEndorsed)
	node.ChecksRefused = riseOf(begin, end, result.ChecksMetric, result.CheckRefused)
}

// riseOf is by how much one kind of a node's counter rose; nil when the node does not
// have the counter, or it began anew. A kind that is not told has not happened.
func riseOf(begin, end map[series]float64, metric, kind string) *uint64 {
	told := false
	for of := range end {
		told = told || of.metric == metric
	}
	rise := end[series{metric, kind}] - begin[series{metric, kind}]
	if !told || rise < 0 {
		return nil
	}
	count := uint64(rise)
	return &count
}
