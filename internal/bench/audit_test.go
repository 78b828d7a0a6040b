// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
)

// honest is the status of a node that has finalised and executed a height of a
// chain of two shards, and agrees with all others that are made here.
func honest(node string, shard int, height uint64) *chain.Status {
	root := func(shard int, height uint64) string {
		return strings.Repeat(string(rune('a'+shard)), int(height))
	}
	status := &chain.Status{
		Node:            node,
		GenesisHash:     "genesis",
		FinalizedHeight: height,
		BlockHash:       root(9, height),
		Transfers:       10 * height,
		Supply:          chain.Supply{Expected: 1005, Balances: 1000 - height, InFlight: height, Burnt: 5, Conserved: true},
		Tracked:         &chain.TrackedStatus{Shard: shard, ExecutedHeight: height, StateRoot: root(shard, height)},
	}
	for shard := range 2 {
		status.Shards = append(status.Shards, chain.ShardStatus{
			Shard: shard, ChunkHeight: height, ExecutedHeight: height - 1, StateRoot: root(shard, height-1),
		})
	}
	return status
}

func observe(t *testing.T, audit *bench.Audit, statuses ...*chain.Status) {
	t.Helper()
	for _, status := range statuses {
		if err := audit.Observe(status); err != nil {
			t.Fatalf("%s at height %d: %v", status.Node, status.FinalizedHeight, err)
		}
	}
}

// A node's execution is confirmed by a header, whichever is seen first.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	audit := bench.NewAudit()
	observe(t, audit, honest("a", 0, 5), honest("b", 0, 5))
	if got := audit.Confirmed("a"); got != 0 {
		t.Errorf("height %d of a is confirmed before any header commits to it", got)
	}
	observe(t, audit, honest("c", 1, 6))
	for _, node := range []string{"a", "b"} {
		if got := audit.Confirmed(node); got != 5 {
			t.Errorf("height %d of %s is confirmed, want 5", got, node)
		}
	}
	if got := audit.Confirmed("c"); got != 0 {
		t.Errorf("height %d of c is confirmed before any header commits to it", got)
	}

	late := honest("d", 1, 6)
	late.Tracked.ExecutedHeight, late.Tracked.StateRoot = 5, late.Shards[1].StateRoot
	observe(t, audit, late)
	if got := audit.Confirmed("d"); got != 5 {
		t.Errorf("height %d of d is confirmed, want 5", got)
	}
}

func TestRPCNodesAreAudited(t *testing.T) {
	t.Parallel()
	status := honest("rpc", 0, 5)
	status.Tracked = nil
	observe(t, bench.NewAudit(), status)
}

func diverge(first, second, subject string) bench.DivergenceError {
	return bench.DivergenceError{First: first, Second: second, Subject: subject}
}

func TestDivergence(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*chain.Status)
		want   bench.DivergenceError
	}{
		"genesis": {func(s *chain.Status) { s.GenesisHash = "other" }, diverge("a", "b", "genesis hashes genesis and other")},
		"block":   {func(s *chain.Status) { s.BlockHash = "x" }, diverge("a", "b", "blocks jjjjj and x are finalised at height 5")},
		"totals":  {func(s *chain.Status) { s.Transfers++ }, diverge("a", "b", "totals as of block 5 are not the same")},
		"shards":  {func(s *chain.Status) { s.Shards[1].Credits++ }, diverge("a", "b", "totals as of block 5 are not the same")},
		"tracked root": {
			func(s *chain.Status) { s.Tracked.StateRoot = "x" },
			diverge("a", "b", "state roots of shard 0 after height 5 are aaaaa and x"),
		},
		"committed root at another height": {
			func(s *chain.Status) {
				*s = *honest("b", 0, 6)
				s.Shards[1].ExecutedHeight, s.Shards[1].StateRoot = 4, "x"
			},
			diverge("a", "b", "state roots of shard 1 after height 4 are bbbb and x"),
		},
		"tracked and committed root": {
			func(s *chain.Status) { *s = *honest("b", 0, 6); s.Shards[0].StateRoot = "x" },
			diverge("b", "a", "state roots of shard 0 after height 5 are x and aaaaa"),
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			audit := bench.NewAudit()
			observe(t, audit, honest("a", 0, 5))
			status := honest("b", 0, 5)
			test.change(status)
			err := audit.Observe(status)
			divergence, ok := errors.AsType[*bench.DivergenceError](err)
			if !ok {
				t.Fatalf("the error is %v, want a divergence", err)
			}
			if *divergence != test.want {
				t.Errorf("the error is %+v, want %+v", *divergence, test.want)
			}
		})
	}
}

func TestSupply(t *testing.T) {
	t.Parallel()
	cases := map[string]chain.Supply{
		"lost":               {Expected: 1000, Balances: 998, InFlight: 1, Conserved: true},
		"from nowhere":       {Expected: 1000, Balances: 1001, Conserved: true},
		"burnt and kept":     {Expected: 1000, Balances: 990, InFlight: 10, Burnt: 1, Conserved: true},
		"the node says so":   {Expected: 1000, Balances: 1000},
		"the sum overflows":  {Expected: 9, Balances: 1<<64 - 1, InFlight: 10, Conserved: true},
		"all of it vanished": {Expected: 1000, Conserved: true},
	}
	for name, supply := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := honest("a", 0, 5)
			status.Supply = supply
			if _, ok := errors.AsType[*bench.SupplyError](bench.NewAudit().Observe(status)); !ok {
				t.Errorf("supply %+v passes the audit", supply)
			}
		})
	}
}

// An audit of a chain that runs for days does not grow with it.
func TestAuditForgets(t *testing.T) {
	t.Parallel()
	audit := bench.NewAudit()
	old := honest("a", 0, 5)
	observe(t, audit, old)
	recent := honest("b", 0, 6)
	recent.FinalizedHeight = 20_000
	observe(t, audit, recent)
	// What contradicts a forgotten height is new again.
	old.BlockHash = "x"
	observe(t, audit, old)
}
