// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace puts a folder in the place of the one that may be there, once fill has filled it
// beside that: whole, and durably, or not at all. What an earlier one left goes.
func Replace(folder string, fill func(partial string) error) error {
	if err := Prepare(folder, fill); err != nil {
		return err
	}
	return Install(folder)
}

// beside is where a folder is filled.
func beside(folder string) string { return folder + ".restoring" }

// Prepare has a folder filled beside its place, and touches nothing else. What an earlier
// one left goes.
func Prepare(folder string, fill func(partial string) error) error {
	partial := beside(folder)
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := fill(partial); err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	return nil
}

// Abandon removes what Prepare made.
func Abandon(folder string) error {
	return os.RemoveAll(beside(folder))
}

// Install puts what Prepare made in the place of the folder that may be there.
func Install(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.Rename(beside(folder), folder); err != nil {
		return err
	}
	// Its files are on the disk. That it has this name has to be as well before somebody is
	// told so.
	return SyncFolder(filepath.Dir(folder))
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(folder string) error {
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}
