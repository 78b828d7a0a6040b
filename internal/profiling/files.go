// SPDX-License-Identifier: Apache-2.0

package profiling

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// merged is in the names of files in the place of a node.
	merged = "merged"

	// objects is the sample type that counts allocations.
	objects = "alloc_objects"
)

// Name is what the files of profiles of nodes of a network are called, but for their
// extensions: after their kind, the only node, and the first height.
func Name(network string, taken []*Taken) string {
	node, height := merged, taken[0].Status.FirstHeight
	if len(taken) == 1 {
		node = taken[0].Node
	}
	for _, one := range taken {
		height = min(height, one.Status.FirstHeight)
	}
	return fmt.Sprintf("%s-%s-%s-%d", nameOf(taken[0].Status.Kind), network, node, height)
}

func nameOf(kind chain.ProfileKind) string {
	if kind == chain.ProfileAllocations {
		return "allocations"
	}
	return "profile"
}

// Write writes a profile into a folder, as a file of pprof and as a page, one of
// allocations as two of them, and says where they are.
func Write(folder, name string, content *profile.Profile) (paths []string, err error) {
	var file bytes.Buffer
	if err := content.Write(&file); err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	files := []written{{".pb.gz", file.Bytes()}}
	for _, page := range pages(content) {
		var drawn bytes.Buffer
		if err := WriteFlameGraph(&drawn, content, page.by); err != nil {
			return nil, err
		}
		files = append(files, written{page.extension, drawn.Bytes()})
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	for _, one := range files {
		path := filepath.Join(folder, name+one.extension)
		if err := os.WriteFile(path, one.content, 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// written is one of the files of a profile.
type written struct {
	extension string
	content   []byte
}

// page is one of the flame graphs of a profile, and the sample type that it is by.
type page struct {
	extension, by string
}

// pages are the flame graphs of a profile: of one of allocations, by their bytes and by
// their number.
func pages(content *profile.Profile) []page {
	pages := []page{{".html", content.DefaultSampleType}}
	if slices.ContainsFunc(content.SampleType, func(of *profile.ValueType) bool { return of.Type == objects }) {
		pages = append(pages, page{"-objects.html", objects})
	}
	return pages
}
