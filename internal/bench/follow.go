// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"

	"github.com/shardyard/shardyard/internal/chain"
)

// Blocks tells finalised blocks, as a client of a node does.
type Blocks interface {
	Block(ctx context.Context, height uint64) (*chain.Block, error)
}

// Follower has an audit observe every finalised block from a height on. A
// status tells what the last block commits to, so whoever only asks for
// statuses may never see the height at which a node told its own state: at every
// second block, say, for as long as asking takes two block times.
type Follower struct {
	audit *Audit
	next  uint64
}

// Follow follows the blocks from a height on.
func (a *Audit) Follow(height uint64) *Follower {
	return &Follower{audit: a, next: height}
}

// To observes the blocks up to the last one of a node's status, all of the
// node, that no node told before. The error is a DivergenceError, or the node
// does not tell a block.
func (f *Follower) To(ctx context.Context, node Blocks, status *chain.Status) error {
	for f.next <= status.FinalizedHeight {
		block, err := node.Block(ctx, f.next)
		if err != nil {
			return fmt.Errorf("asking %s for block %d: %w", status.Node, f.next, err)
		}
		if err := f.audit.ObserveBlock(status.Node, block); err != nil {
			return err
		}
		f.next++
	}
	return nil
}
