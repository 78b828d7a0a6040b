// SPDX-License-Identifier: Apache-2.0

package local

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/machinenodes"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/topology"
)

// A node that was just started again answers, and knows of no block: what it says then is
// not what became of the chain.
func TestLastSampleOfANodeThatBeganAnew(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := chain.Status{Node: "a"}
		if asked.Add(1) > 2 {
			status.FinalizedHeight = 12
		}
		answerJSON(w, status)
	}))
	defer server.Close()
	only := &supervisor{
		node:   machinenodes.Node{Validator: topology.Validator{Name: "a"}},
		client: chain.NewClient(strings.TrimPrefix(server.URL, "http://"), chain.Admin{}),
		state:  validatorState{starts: 2, pid: 1},
	}
	defer only.client.Close()
	run := &run{group: &group{supervisors: []*supervisor{only}}, base: &chain.Status{FinalizedHeight: 10}}
	if best := run.lastSample(t.Context()).Best(); best == nil || best.FinalizedHeight != 12 {
		t.Errorf("the last sample has %+v", best)
	}
}

// What is counted is counted up to the last block that anybody told of.
func TestSummaryOfANodeThatBeganAnew(t *testing.T) {
	t.Parallel()
	base := &chain.Status{FinalizedHeight: 10, Transfers: 100, CrossShard: 50, MissedChunks: 3}
	run := &run{group: &group{}, base: base, audit: bench.NewAudit()}
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
