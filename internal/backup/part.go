// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// partsFolder has the lists of the parts of a backup that several programs make. Nobody
// needs them once there is a manifest.
const partsFolder = "parts"

// Part is what one of several programs copied of a network, each on its own machine.
type Part struct {
	// Nodes are those whose data it is.
	Nodes []Node `json:"nodes,omitempty"`
	Files []File `json:"files"`
}

// WriteFirst makes the first part of a backup, in a place that has nothing in it: of two
// backups of one place, one fails here.
func WriteFirst(ctx context.Context, name, from string, to Place, paths []string) error {
	if err := to.claim(ctx); err != nil {
		return err
	}
	return WritePart(ctx, name, &Part{}, from, to, paths)
}

// WritePart adds files and folders to a backup that has no manifest yet, and then the list
// of them. It fills in the part's files. If it fails, there is nothing of the part.
func WritePart(ctx context.Context, name string, part *Part, from string, to Place, paths []string) (err error) {
	defer func() {
		if err != nil {
			err = to.fail(ctx, err)
		}
	}()
	if part.Files, err = take(ctx, from, to, paths); err != nil {
		return err
	}
	return putJSON(ctx, to, partFile(name), part)
}

func partFile(name string) string { return path.Join(partsFolder, name+".json") }

// Seal makes a backup of parts, all of which are there: it writes the manifest, with what
// they list.
func Seal(ctx context.Context, manifest *Manifest, to Place, names []string) error {
	manifest.Nodes, manifest.Files = []Node{}, []File{}
	for _, name := range names {
		part, err := readPart(ctx, to, name)
		if err != nil {
			return err
		}
		manifest.Nodes = append(manifest.Nodes, part.Nodes...)
		manifest.Files = append(manifest.Files, part.Files...)
	}
	return manifest.seal(ctx, to)
}

func readPart(ctx context.Context, from Place, name string) (*Part, error) {
	part := &Part{}
	switch err := getJSON(ctx, from, partFile(name), part); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s lacks its part %s", from, name)
	case err != nil:
		return nil, fmt.Errorf("read the part %s of %s: %w", name, from, err)
	default:
		return part, nil
	}
}

// Clear removes all parts of a backup that was not completed. One that has a manifest
// stays.
func Clear(ctx context.Context, place Place) error {
	switch in, err := place.get(ctx, ManifestFile); {
	case err == nil:
		return errors.Join(fmt.Errorf("%s is a backup, and stays", place), in.Close())
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return place.clear(ctx, isOfParts)
}

// isOfParts says of the first name of a path whether parts of a backup have it. What others
// put below the place meanwhile, another backup for one, is theirs.
func isOfParts(first string) bool {
	return slices.Contains([]string{NetworkFile, GenesisFile, NodesFolder, partsFolder}, first)
}

// Contents reads the files of a backup that are wanted, and checks them. They are of no
// more than some bytes altogether: what a bucket says of sizes is nobody's word.
func (m *Manifest) Contents(
	ctx context.Context, from Place, maxBytes int64, wanted func(path string) bool,
) (map[string][]byte, error) {
	contents, left := map[string][]byte{}, maxBytes
	for i := range m.Files {
		file := &m.Files[i]
		if !wanted(file.Path) {
			continue
		}
		if file.Bytes < 0 || file.Bytes > left {
			return nil, fmt.Errorf("the backup %s has more than %d bytes besides the data of nodes, with %s", from, maxBytes, file.Path)
		}
		left -= file.Bytes
		var content bytes.Buffer
		if err := file.read(ctx, from, &content); err != nil {
			return nil, err
		}
		contents[file.Path] = content.Bytes()
	}
	return contents, nil
}
