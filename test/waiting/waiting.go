// SPDX-License-Identifier: Apache-2.0

// Package waiting has tests wait for what happens beside them.
package waiting

import (
	"testing"
	"time"
)

// Patience is how long anything may take on a machine that is busy with other
// tests.
const Patience = 2 * time.Minute

// Until waits for a condition.
func Until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	for !condition() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
