// SPDX-License-Identifier: Apache-2.0

// Package backup keeps the files of a network that does not run in a folder or a bucket,
// with a manifest that says what they are, and checks them against it.
//
// The place has the files by the paths that they have in the network's own folder, and
// the manifest, which is written last: a place without one is no complete backup. What
// the files are of, and where they go, is whoever calls to know.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
)

// ManifestFile is the name of a backup's manifest.
const ManifestFile = "backup.json"

// Version is the version of the manifest's format, and of what lies beside it.
const Version = 1

// Manifest says what a backup is of.
type Manifest struct {
	Version int    `json:"version"`
	Network string `json:"network"`
	// GenesisHash identifies the chain.
	GenesisHash string `json:"genesisHash"`
	// CreatedAtMs is when the backup was made.
	CreatedAtMs int64 `json:"createdAtMs"`
	// Chain is a block that the chain had; nil where nobody saw the end of its last run.
	Chain *Chain `json:"chain,omitempty"`
	// Nodes are those whose data directories are in the backup.
	Nodes []Node `json:"nodes"`
	Files []File `json:"files"`
}

// Chain is the highest final block that nodes told of before they were stopped.
type Chain struct {
	FinalizedHeight uint64 `json:"finalizedHeight"`
	BlockHash       string `json:"blockHash"`
	// Shards are the states that the block's headers commit to.
	Shards []Shard `json:"shards"`
}

// Shard is the state of a shard.
type Shard struct {
	Shard          int    `json:"shard"`
	ExecutedHeight uint64 `json:"executedHeight"`
	StateRoot      string `json:"stateRoot"`
}

// Node is one whose data directory is in a backup.
type Node struct {
	Name string `json:"name"`
	// Formats is the version of what the directory holds, as shardnode formats says it.
	Formats string `json:"formats"`
}

// File is one of a backup.
type File struct {
	// Path is where it is in the backup and in the network's folder, with slashes.
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Read reads the manifest of a backup. Nothing is said of its files yet.
func Read(ctx context.Context, from Place) (*Manifest, error) {
	manifest := &Manifest{}
	switch err := getJSON(ctx, from, ManifestFile, manifest); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is no complete backup: it has no %s", from, ManifestFile)
	case err != nil:
		return nil, fmt.Errorf("read %s of the backup %s: %w", ManifestFile, from, err)
	}
	if manifest.Version != Version {
		return nil, fmt.Errorf("the backup %s has version %d, and this program reads %d", from, manifest.Version, Version)
	}
	for _, file := range manifest.Files {
		// One that is not as short as can be may lead out of a folder that is cut off.
		if !filepath.IsLocal(filepath.FromSlash(file.Path)) || path.Clean(file.Path) != file.Path {
			return nil, fmt.Errorf("%s of the backup %s names the file %q, which leads out of it", ManifestFile, from, file.Path)
		}
	}
	return manifest, nil
}

// Node is the node of a name; nil if the backup has no data of it.
func (m *Manifest) Node(name string) *Node {
	for i := range m.Nodes {
		if m.Nodes[i].Name == name {
			return &m.Nodes[i]
		}
	}
	return nil
}
