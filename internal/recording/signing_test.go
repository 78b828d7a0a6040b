// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/recording"
)

// The load begins once all producers have signed before what it takes, and the record
// says how much that was.
func TestRecordOfALoadSignedBefore(t *testing.T) {
	t.Parallel()
	s := &steered{}
	var early atomic.Int64
	s.wrong = func(node int, status *chain.Status) {
		if node >= len(s.rates) {
			return
		}
		if s.rates[node].Load() == 0 {
			status.Load.Signed = 0
			return
		}
		if stock := s.stocks[node].Load(); stock == nil || stock.Signed < stock.Transfers {
			early.Add(1)
		}
	}
	spec := twoSteps()
	spec.Signing = v1alpha1.SigningBefore
	run, err := s.recordLoad(t.Context(), t, spec, func(*recording.Options) {})
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || early.Load() > 0 {
		t.Fatalf("the run has the fault %q, and was loaded %d times before all was signed", run.Fault, early.Load())
	}
	// A second of 100, and 300 for the warm-up, the measurement, and ten seconds more.
	if want := int64(100 + 300*13); run.SignedBefore != want {
		t.Errorf("%d transfers were signed before, want %d", run.SignedBefore, want)
	}
	checkSecondStep(t, run)
	s.checkStopped(t, 0, 1)
}

// Producers that do not go on signing are not waited for.
func TestALoadThatIsNotSigned(t *testing.T) {
	t.Parallel()
	s := &steered{}
	s.wrong = func(node int, status *chain.Status) {
		if node >= len(s.rates) {
			return
		}
		status.Load.Signed = 0
		// What it signed is never enough.
		if stock := s.stocks[node].Load(); stock != nil {
			s.stocks[node].Store(&chain.Stock{Transfers: stock.Transfers})
		}
	}
	spec := twoSteps()
	spec.Signing = v1alpha1.SigningBefore
	run, err := s.recordLoad(t.Context(), t, spec, func(options *recording.Options) { options.Patience = 2 * time.Second })
	want := "of 4000 transfers before the load, and no more within 2s: no load was begun"
	if run != nil || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the run is %+v and the error %v, want that not all was signed", run, err)
	}
}
