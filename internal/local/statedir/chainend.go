// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// KeepChain keeps the block that a run ended with, for backups.
func (d NetworkDir) KeepChain(last bench.Sample) error {
	best := last.Best()
	if best == nil {
		return nil
	}
	chain := &backup.Chain{FinalizedHeight: best.FinalizedHeight, BlockHash: best.BlockHash}
	for i := range best.Shards {
		shard := &best.Shards[i]
		chain.Shards = append(chain.Shards, backup.Shard{
			Shard: shard.Shard, ExecutedHeight: shard.ExecutedHeight, StateRoot: shard.StateRoot,
		})
	}
	content, err := json.Marshal(chain)
	if err != nil {
		return fmt.Errorf("encode the end of the chain: %w", err)
	}
	return wholefile.Write(d.chain(), append(content, '\n'), FileMode)
}

// ReadChain is the block that the last run ended with; nil when nobody saw its end.
func (d NetworkDir) ReadChain() (*backup.Chain, error) {
	content, err := os.ReadFile(d.chain())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	chain := &backup.Chain{}
	if err := json.Unmarshal(content, chain); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.chain(), err)
	}
	return chain, nil
}

// ForgetChain forgets the end of the last run: the chain goes on.
func (d NetworkDir) ForgetChain() error {
	if err := os.Remove(d.chain()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
