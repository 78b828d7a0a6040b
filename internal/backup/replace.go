// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace puts a folder in the place of the one that may be there, once fill has filled it
// beside that: whole, and durably, or not at all. What an earlier one left goes.
func Replace(folder string, fill func(partial string) error) (err error) {
	partial := folder + ".restoring"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(partial))
		}
	}()
	if err := fill(partial); err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.Rename(partial, folder); err != nil {
		return err
	}
	// Its files are on the disk. That it has this name has to be as well before somebody is
	// told so.
	return sync(filepath.Dir(folder))
}

func sync(folder string) error {
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}
