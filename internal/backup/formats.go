// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Formats is the version of what a data directory of a node holds.
func Formats(data string) (string, error) {
	content, err := os.ReadFile(filepath.Join(data, formatsMark))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s holds nothing of a node", data)
	}
	return strings.TrimSpace(string(content)), err
}
