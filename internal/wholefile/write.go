// SPDX-License-Identifier: Apache-2.0

// Package wholefile writes files that are never seen half-written.
package wholefile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write writes a file so that it is there whole or not at all, whatever
// happens in between.
func Write(path string, content []byte, mode os.FileMode) (err error) {
	partial, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = partial.Close()
			_ = os.Remove(partial.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()

	if err := partial.Chmod(mode); err != nil {
		return err
	}
	if _, err := partial.Write(content); err != nil {
		return err
	}
	if err := partial.Sync(); err != nil {
		return err
	}
	if err := partial.Close(); err != nil {
		return err
	}
	return os.Rename(partial.Name(), path)
}
