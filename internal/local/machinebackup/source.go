// SPDX-License-Identifier: Apache-2.0

package machinebackup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/bucket"
	"github.com/shardyard/shardyard/internal/local/statedir"
)

// arrivalPattern is the folder that a backup comes to from a bucket, beside the networks
// of this machine.
const arrivalPattern = ".restore-*"

// source is a backup whose files are checked: in its own folder, or in one that they come
// to from a bucket.
type source struct {
	place    backup.Place
	manifest *backup.Manifest
	// files has the files by their paths, once they are checked.
	files statedir.NetworkDir
	// arrival is the folder that is made for files from a bucket; empty for a backup that
	// is in a folder.
	arrival string
}

// openSource opens a backup. Files of a bucket come to a folder of the networks' file
// system: only there can they be moved whole.
func openSource(ctx context.Context, from, stateDir string) (_ *source, err error) {
	place, err := backup.Open(ctx, from)
	if err != nil {
		return nil, err
	}
	opened := &source{place: place}
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.close())
		}
	}()
	if opened.manifest, err = backup.Read(ctx, place); err != nil {
		return nil, err
	}
	folder, ok, err := bucket.Folder(from)
	if err != nil {
		return nil, err
	}
	if ok {
		opened.files = statedir.NetworkDir(folder)
		return opened, nil
	}
	if err := os.MkdirAll(stateDir, statedir.DirMode); err != nil {
		return nil, err
	}
	if opened.arrival, err = os.MkdirTemp(stateDir, arrivalPattern); err != nil {
		return nil, err
	}
	// Whoever lists the networks finds a genesis document one folder below them.
	opened.files = statedir.NetworkDir(filepath.Join(opened.arrival, "backup"))
	return opened, nil
}

// close removes what came from a bucket and was not moved.
func (s *source) close() error {
	err := s.place.Close()
	if s.arrival != "" {
		err = errors.Join(err, os.RemoveAll(s.arrival))
	}
	return err
}

// network is the network that the backup is of, from files that are checked: all of a
// folder, and of a bucket, where others would come over the network for nothing, those
// that are no data of nodes.
func (s *source) network(ctx context.Context) (*statedir.Kept, error) {
	var err error
	if s.arrival == "" {
		err = s.manifest.Verify(ctx, s.place)
	} else {
		err = s.manifest.Put(ctx, s.place, string(s.files), func(path string) (string, bool) {
			return path, s.manifest.DataOf(path) == ""
		})
	}
	if err != nil {
		return nil, err
	}
	return statedir.OpenKept(s.files)
}

// data fetches and checks the data of nodes from a bucket.
func (s *source) data(ctx context.Context, nodes []string) error {
	if s.arrival == "" {
		return nil
	}
	return s.manifest.Put(ctx, s.place, string(s.files), func(path string) (string, bool) {
		return path, slices.Contains(nodes, s.manifest.DataOf(path))
	})
}

// put puts a folder of the backup to a place beside its own: a copy, checked again, of
// one that stays, and itself of one that came for it.
func (s *source) put(ctx context.Context, folder, to string) error {
	if s.arrival != "" {
		if err := os.MkdirAll(filepath.Dir(to), statedir.DirMode); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(string(s.files), folder), to); err != nil {
			return fmt.Errorf("move %s from %s: %w", folder, s.place, err)
		}
		return nil
	}
	return s.manifest.Put(ctx, s.place, to, func(path string) (string, bool) {
		return strings.CutPrefix(path, filepath.ToSlash(folder)+"/")
	})
}
