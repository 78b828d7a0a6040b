// SPDX-License-Identifier: Apache-2.0

package local

import (
	"testing"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
)

// sampleAt is a sample of two nodes, of which one is a block behind. A block
// takes a quarter of a second and executes 1,000 transfers.
func sampleAt(height uint64) bench.Sample {
	status := func(height uint64) *chain.Status {
		return &chain.Status{
			FinalizedHeight: height, FinalizedTimeMs: int64(250 * height), Transfers: 1000 * height, MissedChunks: 7,
		}
	}
	return bench.Sample{Nodes: []bench.NodeSample{{Name: "a", Status: status(height - 1)}, {Name: "b", Status: status(height)}}}
}

func TestLive(t *testing.T) {
	t.Parallel()
	live := live{missedBefore: 5, recent: []bench.Sample{sampleAt(1000)}}
	if got, want := live.line(sampleAt(1004), 2),
		"TPS 4,000 | block time 250 ms | height 1,004 | missed chunks 2 | 2 of 2 validators ready"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}

	silent := bench.Sample{Nodes: []bench.NodeSample{{Name: "a"}, {Name: "b"}}}
	if got, want := live.line(silent, 0), "no validator answers"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}

	// A chain that stands still has no rate as soon as the line looks back to
	// nothing else.
	var got string
	for range liveSamples + 1 {
		got = live.line(sampleAt(1004), 2)
	}
	if want := "TPS 0 | block time - | height 1,004 | missed chunks 2 | 2 of 2 validators ready"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
}
