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

// fixedCount is a load of so many transfers.
func fixedCount(transfers int64) *v1alpha1.LoadSpec {
	return &v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileFixedCount, FixedCount: &v1alpha1.FixedCountLoad{Transfers: transfers},
		Signing: v1alpha1.SigningBefore,
	}
}

// signsWhenTold has producers say that they have signed nothing before they are told a rate.
func (s *steered) signsWhenTold(node int, status *chain.Status) {
	if node < len(s.rates) && s.rates[node].Load() == 0 {
		status.Load.Signed = 0
	}
}

// A fixed count is measured from the beginning of its load to the block with the last of
// it: at 10 in each block, the 25th after the one that was being executed.
func TestRecordOfAFixedCount(t *testing.T) {
	t.Parallel()
	s := &steered{}
	var early atomic.Int64
	s.wrong = func(node int, status *chain.Status) {
		s.signsWhenTold(node, status)
		if node >= len(s.rates) || s.rates[node].Load() == 0 {
			return
		}
		if stock := s.stocks[node].Load(); stock == nil || stock.Signed < stock.Transfers {
			early.Add(1)
		}
	}
	run, err := s.recordLoad(t.Context(), t, fixedCount(251), func(options *recording.Options) {
		options.WarmUp, options.Duration = 0, time.Minute
	})
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || early.Load() > 0 || run.SignedBefore != 251 {
		t.Fatalf("the run has the fault %q, was loaded %d times before all was signed, and %d were", run.Fault, early.Load(), run.SignedBefore)
	}
	// Headers say of the chunk of the block before. That of the first block was there before.
	count := run.FixedCount
	if count.Executed != 260 || count.LastHeight != run.BeganHeight+27 {
		t.Errorf("the count came to %+v of a load that began at height %d", count, run.BeganHeight)
	}
	measured := run.MeasuredBlocks()
	if last := measured[len(measured)-1]; last.Height != count.LastHeight || run.Window.BeginMs != run.LoadBeganMs {
		t.Errorf("the last measured block is %d, and the measurement is %+v", last.Height, run.Window)
	}
	if first := run.Samples[0]; first.TimeMs != run.Window.BeginMs || len(run.Nodes) != 3 {
		t.Errorf("the first sample is at %d of %+v, and there are %d nodes", first.TimeMs, run.Window, len(run.Nodes))
	}
	s.checkStopped(t, 0, 1)
}

// A fixed count that is not complete in time is a run that does not count.
func TestAFixedCountThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	s := &steered{}
	s.wrong = s.signsWhenTold
	run, err := s.recordLoad(t.Context(), t, fixedCount(1_000_000), func(options *recording.Options) {
		options.WarmUp, options.Duration = 0, 2*time.Second
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "0 failed and 0 were refused by pools within 2s: the others had come to no end"
	if !strings.HasPrefix(run.Fault, "of 1000000 transfers, ") || !strings.HasSuffix(run.Fault, want) {
		t.Errorf("the fault is %q, want %q", run.Fault, want)
	}
	s.checkStopped(t, 0, 1)
}

// A fixed count of a network that carried another load begins once every chunk is final
// that may hold some of that, and what pools refused of that is not of it.
func TestAFixedCountOfANetworkInUse(t *testing.T) {
	t.Parallel()
	s := &steered{}
	s.rates[0].Store(77)
	const proposed = 60
	var rested atomic.Uint64
	s.wrong = func(node int, status *chain.Status) {
		if node < len(s.rates) {
			status.Load.Rejected = 9
		}
		// Many blocks are proposed before one is final, and the next chunks are made already.
		status.Height = status.FinalizedHeight + proposed
		if s.told[0].Load() > 0 && s.told[1].Load() > 0 {
			rested.CompareAndSwap(0, status.FinalizedHeight)
		}
	}
	run, err := s.recordLoad(t.Context(), t, fixedCount(20), func(options *recording.Options) {
		inUse(options)
		options.WarmUp, options.Duration = 0, time.Minute
	})
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || run.FixedCount.Refused != 0 {
		t.Errorf("the count came to %+v, with the fault %q", run.FixedCount, run.Fault)
	}
	if least := rested.Load() + proposed + 1; run.BeganHeight < least {
		t.Errorf("the load began at height %d, want %d at least", run.BeganHeight, least)
	}
}
