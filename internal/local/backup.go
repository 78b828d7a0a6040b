// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// BackupOptions say what is kept, and where.
type BackupOptions struct {
	// StateDir is the folder that networks are kept in, Network the one of them.
	StateDir, Network string
	// Nodes are those whose data is kept; all of them without one.
	Nodes []string
	// To is where the backup goes: a folder, or the URL of a place in a bucket.
	To string
}

// Backup keeps the files of a network that does not run: what makes it the network that
// it is, keys included, and the data of nodes. While it does, nobody else can run it.
func Backup(ctx context.Context, options BackupOptions) (_ *backup.Manifest, err error) {
	dir := networkDir(filepath.Join(options.StateDir, options.Network))
	if there, err := dir.exists(); err != nil {
		return nil, err
	} else if !there {
		return nil, fmt.Errorf("there is no network %s in %s", options.Network, options.StateDir)
	}
	lock, err := lockNetwork(dir)
	if err != nil {
		return nil, fmt.Errorf("network %s is running, and its files change: stop it first: %w", options.Network, err)
	}
	defer func() { err = errors.Join(err, unlockNetwork(lock)) }()

	kept, err := openKept(dir)
	if err != nil {
		return nil, err
	}
	manifest := &backup.Manifest{Network: options.Network, GenesisHash: kept.genesisHash, CreatedAtMs: time.Now().UnixMilli()}
	if manifest.Chain, err = dir.readChain(); err != nil {
		return nil, err
	}
	paths := []string{filepath.Base(dir.manifest()), filepath.Base(dir.genesis())}
	for _, validator := range kept.plan.Nodes {
		paths = append(paths, dir.relative(dir.node(validator.Name).key()), dir.relative(dir.node(validator.Name).adminToken()))
	}
	nodes := options.Nodes
	if len(nodes) == 0 {
		nodes = kept.names()
	}
	for _, name := range nodes {
		if !slices.Contains(kept.names(), name) {
			return nil, fmt.Errorf("network %s has no node %s", options.Network, name)
		}
		formats, err := backup.Formats(dir.node(name).data())
		if err != nil {
			return nil, err
		}
		manifest.Nodes = append(manifest.Nodes, backup.Node{Name: name, Formats: formats})
		paths = append(paths, dir.relative(dir.node(name).data()))
	}
	place, err := backup.Open(ctx, options.To)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	return manifest, backup.Write(ctx, manifest, string(dir), place, paths)
}

// relative is a path as it is in the network's folder.
func (d networkDir) relative(path string) string {
	return strings.TrimPrefix(path, string(d)+string(filepath.Separator))
}

// hasData says whether a node has anything on its disk.
func (d nodeDir) hasData() (bool, error) {
	entries, err := os.ReadDir(d.data())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return len(entries) > 0, err
}

// keepChain keeps the block that a run ended with, for backups.
func (d networkDir) keepChain(last bench.Sample) error {
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
	return wholefile.Write(d.chain(), append(content, '\n'), fileMode)
}

// readChain is the block that the last run ended with; nil when nobody saw its end.
func (d networkDir) readChain() (*backup.Chain, error) {
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

// forgetChain forgets the end of the last run: the chain goes on.
func (d networkDir) forgetChain() error {
	if err := os.Remove(d.chain()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
