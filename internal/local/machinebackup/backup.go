// SPDX-License-Identifier: Apache-2.0

package machinebackup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/local/statedir"
)

// Options say what is kept, and where.
type Options struct {
	// StateDir is the folder that networks are kept in, Network the one of them.
	StateDir, Network string
	// Nodes are those whose data is kept; all of them without one.
	Nodes []string
	// To is where the backup goes: a folder, or the URL of a place in a bucket.
	To string
}

// Backup keeps the files of a network that does not run: what makes it the network that
// it is, keys included, and the data of nodes. While it does, nobody else can run it.
func Backup(ctx context.Context, options Options) (_ *backup.Manifest, err error) {
	dir := statedir.NetworkDir(filepath.Join(options.StateDir, options.Network))
	if there, err := dir.Exists(); err != nil {
		return nil, err
	} else if !there {
		return nil, fmt.Errorf("there is no network %s in %s", options.Network, options.StateDir)
	}
	lock, err := statedir.Lock(dir)
	if err != nil {
		return nil, fmt.Errorf("network %s is running, and its files change: stop it first: %w", options.Network, err)
	}
	defer func() { err = errors.Join(err, statedir.Unlock(lock)) }()

	if err := dir.CheckRestored(); err != nil {
		return nil, err
	}
	kept, err := statedir.OpenKept(dir)
	if err != nil {
		return nil, err
	}
	manifest := &backup.Manifest{Network: options.Network, GenesisHash: kept.GenesisHash, CreatedAtMs: time.Now().UnixMilli()}
	if manifest.Chain, err = dir.ReadChain(); err != nil {
		return nil, err
	}
	paths := []string{filepath.Base(dir.Manifest()), filepath.Base(dir.Genesis())}
	for _, validator := range kept.Plan.Nodes {
		paths = append(paths, dir.Relative(dir.Node(validator.Name).Key()), dir.Relative(dir.Node(validator.Name).AdminToken()))
	}
	nodes := options.Nodes
	if len(nodes) == 0 {
		nodes = kept.Names()
	}
	for _, name := range nodes {
		if !slices.Contains(kept.Names(), name) {
			return nil, fmt.Errorf("network %s has no node %s", options.Network, name)
		}
		formats, err := backup.Formats(dir.Node(name).Data())
		if err != nil {
			return nil, err
		}
		manifest.Nodes = append(manifest.Nodes, backup.Node{Name: name, Formats: formats})
		paths = append(paths, dir.Relative(dir.Node(name).Data()))
	}
	place, err := backup.Open(ctx, options.To)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	return manifest, backup.Write(ctx, manifest, string(dir), place, paths)
}
