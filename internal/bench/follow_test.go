// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"context"
	"errors"
	"testing"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
)

var errNoBlock = errors.New("no such block")

// blocks are those of an honest node up to a height.
type blocks uint64

func (b blocks) Block(_ context.Context, height uint64) (*chain.Block, error) {
	if height > uint64(b) {
		return nil, errNoBlock
	}
	block := &chain.Block{Height: height}
	for _, shard := range honest("", 0, height).Shards {
		block.Chunks = append(block.Chunks, chain.ChunkHeader{Shard: shard.Shard, Height: height, Results: []chain.ExecutionResult{
			{Height: shard.ExecutedHeight, StateRoot: shard.StateRoot},
		}})
	}
	return block, nil
}

// Who sees every second status only learns from the blocks between them what
// was committed.
func TestFollow(t *testing.T) {
	t.Parallel()
	audit := bench.NewAudit()
	follower := audit.Follow(3)
	for height := uint64(3); height <= 9; height += 2 {
		status := honest("a", 0, height)
		observe(t, audit, status)
		if got := audit.Confirmed("a"); height > 3 && got >= height-2 {
			t.Errorf("before the blocks up to %d, height %d is confirmed", height, got)
		}
		if err := follower.To(t.Context(), blocks(height), status); err != nil {
			t.Error(err)
		}
		if got := audit.Confirmed("a"); height > 3 && got != height-2 {
			t.Errorf("with the blocks up to %d, height %d is confirmed, want %d", height, got, height-2)
		}
	}
}

func TestFollowAgain(t *testing.T) {
	t.Parallel()
	audit := bench.NewAudit()
	follower := audit.Follow(1)
	status := honest("a", 0, 6)
	observe(t, audit, honest("a", 0, 4), status)
	if err := follower.To(t.Context(), blocks(2), status); !errors.Is(err, errNoBlock) {
		t.Errorf("the error is %v, want %v", err, errNoBlock)
	}
	if err := follower.To(t.Context(), blocks(6), honest("b", 0, 6)); err != nil {
		t.Error(err)
	}
	if got := audit.Confirmed("a"); got != 4 {
		t.Errorf("height %d is confirmed, want 4", got)
	}
}

func TestBlockThatContradicts(t *testing.T) {
	t.Parallel()
	audit := bench.NewAudit()
	status := honest("liar", 0, 5)
	status.Tracked.StateRoot = "false"
	observe(t, audit, status)
	want := diverge("a", "liar", "state roots of shard 0 after height 5 are aaaaa and false")
	err := audit.Follow(6).To(t.Context(), blocks(6), honest("a", 0, 6))
	if divergence := (*bench.DivergenceError)(nil); !errors.As(err, &divergence) || *divergence != want {
		t.Errorf("the error is %v, want %v", err, &want)
	}
}
