// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/topology"
)

// A node that was just started again answers, and knows of no block: what it says then is
// not what became of the chain.
func TestLastSampleOfANodeThatBeganAnew(t *testing.T) {
	t.Parallel()
	run := &run{base: &chain.Status{FinalizedHeight: 10}}
	asked := 0
	ask := func(context.Context) bench.Sample {
		asked++
		status := &chain.Status{Node: "a"}
		if asked > 2 {
			status.FinalizedHeight = 12
		}
		return bench.Sample{Nodes: []bench.NodeSample{{Name: "a", Status: status}}}
	}
	if best := run.lastSample(t.Context(), ask).Best(); best == nil || best.FinalizedHeight != 12 {
		t.Errorf("the last sample has %+v", best)
	}
}

// What is counted is counted up to the last block that anybody told of.
func TestSummaryOfANodeThatBeganAnew(t *testing.T) {
	t.Parallel()
	base := &chain.Status{FinalizedHeight: 10, Transfers: 100, CrossShard: 50, MissedChunks: 3}
	run := &run{group: &supervision.Group{}, base: base, audit: bench.NewAudit()}
	network := &network{Network: &statedir.Network{Plan: &topology.Plan{}, Manifest: &v1alpha1.ShardNetwork{}}}
	for _, status := range []*chain.Status{
		base, {FinalizedHeight: 14, Transfers: 130, CrossShard: 60, MissedChunks: 4}, {},
	} {
		run.observe(bench.Sample{Nodes: []bench.NodeSample{{Name: "a", Status: status}}})
	}
	summary := run.summarize(network, bench.Measurement{})
	if summary.Height != 14 || summary.Executed != 30 || summary.CrossShard != 10 || summary.MissedChunks != 1 {
		t.Errorf("the summary is %+v", summary)
	}
}
