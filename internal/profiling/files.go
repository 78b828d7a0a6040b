// SPDX-License-Identifier: Apache-2.0

package profiling

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"
)

// merged is in the names of files in the place of a node.
const merged = "merged"

// Name is what the files of profiles of nodes of a network are called, but for their
// extensions: after the only node, and the first height.
func Name(network string, taken []*Taken) string {
	node, height := merged, taken[0].Status.FirstHeight
	if len(taken) == 1 {
		node = taken[0].Node
	}
	for _, one := range taken {
		height = min(height, one.Status.FirstHeight)
	}
	return fmt.Sprintf("profile-%s-%s-%d", network, node, height)
}

// Write writes a profile into a folder, as a file of pprof and as a page, and says
// where they are.
func Write(folder, name string, content *profile.Profile) (paths []string, err error) {
	var file, page bytes.Buffer
	if err := content.Write(&file); err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	if err := WriteFlameGraph(&page, content); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	for _, one := range []struct {
		extension string
		content   []byte
	}{{".pb.gz", file.Bytes()}, {".html", page.Bytes()}} {
		path := filepath.Join(folder, name+one.extension)
		if err := os.WriteFile(path, one.content, 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
