// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const shardnodeName = "shardnode"

// FindShardnode returns the path of the node program: the one that is named, or
// else the one beside this program, or else the one of the PATH.
func FindShardnode(named string) (string, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("find the node program: %w", err)
		}
		return filepath.Abs(path)
	}
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			beside := filepath.Join(filepath.Dir(self), shardnodeName)
			if path, err := exec.LookPath(beside); err == nil {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(shardnodeName)
	if err != nil {
		return "", fmt.Errorf("find the node program: it is neither beside this program nor in the PATH: %w", err)
	}
	return filepath.Abs(path)
}
