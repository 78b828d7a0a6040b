// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/resources"
)

// networkPart is the part of a backup that has the network's own files. Names of nodes
// have a hyphen.
const networkPart = "network"

// KeepNetwork begins a backup with the network's own files, which lie in a folder as a
// backup has them.
func KeepNetwork(ctx context.Context, url, folder string) error {
	nodes, err := os.ReadDir(filepath.Join(folder, backup.NodesFolder))
	if err != nil {
		return err
	}
	paths := []string{backup.NetworkFile, backup.GenesisFile}
	for _, node := range nodes {
		paths = append(paths, backup.KeyFile(node.Name()), backup.TokenFile(node.Name()))
	}
	return at(ctx, url, func(place backup.Place) error {
		return backup.WriteFirst(ctx, networkPart, folder, place, paths)
	})
}

// KeepNode adds the data of a node to a backup, which lies in a folder as a backup has it.
func KeepNode(ctx context.Context, url, folder, node string) error {
	formats, err := backup.Formats(filepath.Join(folder, filepath.FromSlash(backup.DataFolder(node))))
	if err != nil {
		return err
	}
	part := &backup.Part{Nodes: []backup.Node{{Name: node, Formats: formats}}}
	return at(ctx, url, func(place backup.Place) error {
		return backup.WritePart(ctx, node, part, folder, place, []string{backup.DataFolder(node)})
	})
}

// Seal makes a backup of its parts. A file of a folder says what it is of.
func Seal(ctx context.Context, url, folder string) error {
	content, err := os.ReadFile(filepath.Join(folder, resources.BackupHead))
	if err != nil {
		return err
	}
	manifest := &backup.Manifest{}
	if err := json.Unmarshal(content, manifest); err != nil {
		return fmt.Errorf("read %s: %w", resources.BackupHead, err)
	}
	parts := []string{networkPart}
	for _, node := range manifest.Nodes {
		parts = append(parts, node.Name)
	}
	return at(ctx, url, func(place backup.Place) error { return backup.Seal(ctx, manifest, place, parts) })
}

// Clear removes the parts of a backup that failed.
func Clear(ctx context.Context, url string) error {
	return at(ctx, url, func(place backup.Place) error { return backup.Clear(ctx, place) })
}

// RestoreNode puts the data of a node onto its disk, whose root is a folder: whole, in the
// place of what was there, or not at all.
func RestoreNode(ctx context.Context, url, folder, node string) error {
	return at(ctx, url, func(place backup.Place) error {
		manifest, err := backup.Read(ctx, place)
		if err != nil {
			return err
		}
		if manifest.Node(node) == nil {
			return fmt.Errorf("the backup %s has no data of a node %s", place, node)
		}
		return backup.Replace(filepath.Join(folder, filepath.Base(backup.DataFolder(node))), func(partial string) error {
			return manifest.Put(ctx, place, partial, func(path string) (string, bool) { return backup.InData(node, path) })
		})
	})
}

// at opens a place for something that is done there. The errors of pods end up in their
// statuses, in one line.
func at(ctx context.Context, url string, do func(backup.Place) error) (err error) {
	place, err := backup.Open(ctx, url)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, place.Close()); err != nil {
			err = errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}()
	return do(place)
}
