// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

// history is the blocks that a node tells, by their heights.
type history map[uint64]*chain.Block

func (h history) Block(_ context.Context, height uint64) (*chain.Block, error) {
	if block := h[height]; block != nil {
		return block, nil
	}
	return nil, fmt.Errorf("block %d is not there", height)
}

// uncommitted makes the header of a chunk which leaves others before it uncommitted.
func uncommitted(header chain.ChunkHeader, heights ...uint64) chain.ChunkHeader {
	header.Uncommitted = heights
	return header
}

// What fails of the chunks from before the first block is known, if any node still tells
// how many transactions they had: the first measured block may be the one after it.
func TestChunksFromBeforeTheFirstBlock(t *testing.T) {
	t.Parallel()
	earlier := history{
		7: block(7, 0, header(0, 7, 5), header(1, 7, 6)),
		8: block(8, 1, header(0, 8, 4), header(1, 7, 6)),
	}
	whole := history{
		// Shard 1 missed the chunks of 8 and 9: its newest is that of 7.
		9: block(9, 2, uncommitted(header(0, 9, 3), 7, 8), header(1, 7, 6)),
		10: block(10, 3, header(0, 10, 0, executed(7, 3, 0), executed(8, 4, 0)),
			header(1, 10, 0, executed(7, 5, 0))),
		11: block(11, 4, header(0, 11, 0, executed(9, 2, 0)), header(1, 11, 0)),
	}
	missed := history{
		9:  block(9, 2, header(0, 9, 3), header(1, 7, 6)),
		10: block(10, 3, header(0, 10, 0), header(1, 10, 0, executed(7, 5, 0))),
		11: block(11, 4, header(0, 11, 0, executed(9, 2, 0)), header(1, 11, 0)),
	}
	node := func(blocks history) record.Source {
		return record.Source{Name: "node", FinalizedHeight: 11, Blocks: blocks}
	}
	cases := map[string]struct {
		sources []record.Source
		failed  *uint64
	}{
		"another node tells them":      {[]record.Source{node(whole), node(earlier)}, ptr.To[uint64](3)},
		"no node tells them":           {[]record.Source{node(whole)}, nil},
		"the first block tells itself": {[]record.Source{node(missed)}, ptr.To[uint64](1)},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := newRecorder()
			follower := record.NewFollower(recorder, bench.NewAudit(), 9)
			if err := follower.Follow(t.Context(), test.sources); err != nil {
				t.Fatal(err)
			}
			blocks := recorder.Run("").Blocks
			if err := follower.Untold(); len(blocks) != 3 || blocks[0].Height != 9 || err != nil {
				t.Fatalf("the blocks are %+v, and one is untold: %v", blocks, err)
			}
			want := []*uint64{ptr.To[uint64](0), test.failed, ptr.To[uint64](1)}
			for i := range blocks {
				if !equal(blocks[i].Failed, want[i]) {
					t.Errorf("block %d says that %s failed, want %s", blocks[i].Height, told(blocks[i]), told(result.Block{Failed: want[i]}))
				}
			}
		})
	}
}

func equal(a, b *uint64) bool { return a == b || a != nil && b != nil && *a == *b }

func told(block result.Block) string {
	if block.Failed == nil {
		return "an unknown number"
	}
	return fmt.Sprint(*block.Failed)
}
