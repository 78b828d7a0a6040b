// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"errors"
	"os"
	"path/filepath"
)

// Names are the networks that are kept in a folder.
func Names(stateDir string) ([]string, error) {
	entries, err := os.ReadDir(stateDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if there, err := NetworkDir(filepath.Join(stateDir, entry.Name())).Exists(); err != nil {
			return nil, err
		} else if there {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
