// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"testing"

	"github.com/shardyard/shardyard/internal/local/supervision"
)

// Runs that are made side by side begin together, and none is over before the others
// have measured.
func TestCompany(t *testing.T) {
	t.Parallel()
	company := NewCompany(2)
	began := make(chan error)
	go func() { began <- company.awaitReady(t.Context(), nil) }()
	select {
	case err := <-began:
		t.Fatalf("a run begins without the other: %v", err)
	default:
	}
	if err := company.awaitReady(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	// However often one says so, it is one.
	if company.leave(false) || company.leave(true) {
		t.Error("a run is over before the other has measured")
	}
	if !company.leave(false) || !company.leave(true) {
		t.Error("a run is not over although all have measured")
	}

	var alone *Company
	if err := alone.awaitReady(t.Context(), nil); err != nil || !alone.leave(false) {
		t.Errorf("a run by itself waits: %v", err)
	}
}

// Whoever waits for a run that does not come is not left waiting.
func TestCompanyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	ended := errors.New("a validator ended")
	failed := make(chan error, 1)
	failed <- ended
	if err := NewCompany(2).awaitReady(t.Context(), failed); !errors.Is(err, ended) {
		t.Errorf("the error is %v, want that of the validator", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewCompany(2).awaitReady(ctx, nil); !errors.Is(err, supervision.ErrInterrupted) {
		t.Errorf("the error is %v, want that it was interrupted", err)
	}
}
