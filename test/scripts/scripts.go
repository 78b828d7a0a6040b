// SPDX-License-Identifier: Apache-2.0

// Package scripts writes the scripts that tests run as programs.
package scripts

import (
	"os"
	"syscall"
	"testing"
)

// Write writes a script that can be run at once. A process that the test starts meanwhile
// would have the file open for writing for a moment, and nobody can run such a file.
func Write(t *testing.T, path, content string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil { //nolint:gosec // It is run.
		t.Fatal(err)
	}
}
