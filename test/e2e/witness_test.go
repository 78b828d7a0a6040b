// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// longestPause is how long a chain that goes on may take for a block.
	longestPause = 15 * time.Second
	// longestSilence is how many blocks in a row may hold no chunk of a shard.
	longestSilence = 10
)

// witness asks every node of a network again and again what it knows of the
// chain. Nodes that do not answer are left out.
type witness struct {
	mu sync.Mutex
	// audit compares what the nodes say, and follower has it see every block;
	// contradiction is what it found.
	audit         *bench.Audit
	follower      *bench.Follower
	contradiction error
	// finalized is the highest finalised block, seen at the given time.
	finalized uint64
	seenAt    time.Time
	// pause is the longest time between two times that finalized rose, and
	// silence the most blocks that lacked a chunk of a shard.
	pause   time.Duration
	silence uint64
	silent  int
	// totals are what the chain said of its shards at the highest block.
	totals []chain.ShardStatus
}

// watch begins to watch the chain, until the test ends.
func (n *network) watch(t *testing.T) *witness {
	t.Helper()
	audit := bench.NewAudit()
	w := &witness{audit: audit, follower: audit.Follow(n.finalized(t) + 1), seenAt: time.Now()}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, validator := range n.plan(t).Nodes {
		api := n.api(t, validator.Name)
		group.Go(func() { w.follow(ctx, api) })
	}
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
	return w
}

func (w *witness) follow(ctx context.Context, api *chain.Client) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if status, err := api.Status(ctx); err == nil {
			w.hear(ctx, api, status)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *witness) hear(ctx context.Context, api *chain.Client, status *chain.Status) {
	// Before it waits for anybody else who hears something.
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	// What a node behind the others says of a shard is old, not wrong.
	for _, shard := range status.Shards {
		if silence := status.FinalizedHeight - min(shard.ChunkHeight, status.FinalizedHeight); silence > w.silence {
			w.silence, w.silent = silence, shard.Shard
		}
	}
	if status.FinalizedHeight > w.finalized {
		if w.contradiction == nil {
			w.contradiction = w.compareTotals(status)
		}
		w.pause = max(w.pause, now.Sub(w.seenAt))
		w.finalized, w.seenAt = status.FinalizedHeight, now
	}
	if w.contradiction == nil {
		w.contradiction = w.compare(ctx, api, status)
	}
}

// compare compares what a node says with what others said. That it goes away
// before it has told all its blocks is no contradiction.
func (w *witness) compare(ctx context.Context, api *chain.Client, status *chain.Status) error {
	// The others wait meanwhile. What it does not tell in time is asked for the next time.
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := w.audit.Observe(status); err != nil {
		return err
	}
	if err := w.follower.To(ctx, api, status); errors.As(err, new(*bench.DivergenceError)) {
		return err
	}
	return nil
}

// compareTotals compares what the chain says of its shards with what it said
// before. What was executed stays so.
func (w *witness) compareTotals(status *chain.Status) error {
	for i, before := range w.totals {
		now := status.Shards[i]
		if now.Transfers < before.Transfers || now.Credits < before.Credits || now.ExecutedHeight < before.ExecutedHeight {
			return fmt.Errorf("shard %d had executed %d transfers and %d credits at height %d, and %d and %d at the later height %d",
				now.Shard, before.Transfers, before.Credits, w.finalized, now.Transfers, now.Credits, status.FinalizedHeight)
		}
	}
	w.totals = status.Shards
	return nil
}

// height is the highest finalised block.
func (w *witness) height() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finalized
}

// confirmed is up to which height a node's own state is what the chain commits
// to.
func (w *witness) confirmed(node string) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.audit.Confirmed(node)
}

// check says whether the chain went on all the time with all its shards, and
// whether the nodes agree.
func (w *witness) check(t *testing.T) {
	t.Helper()
	w.checkWithin(t, longestPause, longestSilence)
}

// checkWithin is like check, with bounds of its own.
func (w *witness) checkWithin(t *testing.T, longestPause time.Duration, longestSilence uint64) {
	t.Helper()
	w.checkAgreement(t)
	w.mu.Lock()
	defer w.mu.Unlock()
	if pause := max(w.pause, time.Since(w.seenAt)); pause > longestPause {
		t.Errorf("the chain stood still for %s, want at most %s", pause, longestPause)
	}
	if w.silence > longestSilence {
		t.Errorf("shard %d had no chunk in %d blocks in a row, want at most %d", w.silent, w.silence, longestSilence)
	}
}

// checkAgreement says whether the nodes agree, and nothing that the chain executed
// was lost.
func (w *witness) checkAgreement(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.contradiction != nil {
		t.Error(w.contradiction)
	}
	t.Logf("height %d, longest pause %s, longest silence of a shard %d blocks", w.finalized, w.pause, w.silence)
}
