// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"testing"
	"time"
)

const (
	// patience is how long anything may take on a machine that is busy.
	patience = 5 * time.Minute
	// pollInterval is how often a condition is looked at.
	pollInterval = 200 * time.Millisecond
)

// eventually waits until a condition holds: until its function, which says what
// is missing, returns nil.
func eventually(t *testing.T, what string, missing func(context.Context) error) {
	t.Helper()
	within(t, patience, what, missing)
}

// within is like eventually, with a patience of its own.
func within(t *testing.T, patience time.Duration, what string, missing func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var last error
	for {
		err := missing(ctx)
		if err == nil {
			return
		}
		// That there was no time to look says nothing.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("%s: waited in vain: %v", what, last)
		}
	}
}
