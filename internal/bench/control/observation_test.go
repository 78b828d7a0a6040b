// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/control"
	"github.com/shardyard/shardyard/internal/chain"
)

// A node that does not answer once is late for no more than it was when it does again,
// and still has in its pool what it had, unless it stays silent.
func TestObserver(t *testing.T) {
	t.Parallel()
	node := func(name string, height, overdue uint64) bench.NodeSample {
		return bench.NodeSample{Name: name, Status: &chain.Status{
			FinalizedHeight: height, Load: &chain.Load{Overdue: overdue}, Pool: chain.PoolStatus{Transactions: 5},
		}}
	}
	silent := bench.NodeSample{Name: "b"}
	cases := []struct {
		second          int64
		nodes           []bench.NodeSample
		overdue, pooled uint64
	}{
		{0, []bench.NodeSample{node("a", 1, 10), node("b", 1, 100)}, 110, 10},
		{1, []bench.NodeSample{node("a", 2, 11), silent}, 111, 10},
		{2, []bench.NodeSample{node("a", 3, 12), node("b", 3, 101)}, 113, 10},
		{32, []bench.NodeSample{node("a", 4, 12), silent}, 113, 10},
		{33, []bench.NodeSample{node("a", 5, 12), silent}, 113, 5},
		// It began anew.
		{34, []bench.NodeSample{node("a", 6, 12), node("b", 6, 0)}, 12, 10},
	}
	observer := &control.Observer{}
	for i, test := range cases {
		at := time.Unix(1_790_000_000+test.second, 0)
		seen, ok := observer.Observe(bench.Sample{Nodes: test.nodes}, at)
		if !ok || seen.Overdue != test.overdue || seen.Pooled != test.pooled || seen.FinalizedHeight != uint64(i+1) {
			t.Errorf("sample %d says %+v, want %d overdue and %d pooled", i, seen, test.overdue, test.pooled)
		}
	}
	if _, ok := observer.Observe(bench.Sample{Nodes: []bench.NodeSample{silent}}, time.Unix(1_790_000_009, 0)); ok {
		t.Error("something is observed of a network of which no node answers")
	}
}
