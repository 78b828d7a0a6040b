// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/recording"
)

// twoSteps is a load whose rates nobody has to find.
func twoSteps() *v1alpha1.LoadSpec {
	return &v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{Steps: []v1alpha1.RampStep{
		{TransfersPerSecond: ptr.To[int64](100), DurationSeconds: 1}, {TransfersPerSecond: ptr.To[int64](300), DurationSeconds: 1},
	}}}
}

// inUse has the recorder find a network that was there before.
func inUse(options *recording.Options) { options.Steering.InUse = true }

// A network that was there before ends what it carries, and executes what waits, before
// the load of the run begins; all of that load's steps are in the record.
func TestANetworkInUse(t *testing.T) {
	t.Parallel()
	s := &steered{}
	s.rates[0].Store(77)
	s.rates[1].Store(77)
	var waiting, early atomic.Int64
	waiting.Store(4)
	s.wrong = func(node int, status *chain.Status) {
		if node != 1 {
			return
		}
		if s.told[1].Load() > 0 && s.rates[1].Load() == 0 && waiting.Load() > 0 {
			waiting.Add(-1)
		}
		if status.Pool.Transactions = uint64(waiting.Load()); waiting.Load() > 0 && s.told[1].Load() > 1 {
			early.Add(1)
		}
	}
	run, err := s.recordLoad(t.Context(), t, twoSteps(), inUse)
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || early.Load() > 0 {
		t.Fatalf("the run has the fault %q, and its load began while %d transfers of before waited", run.Fault, early.Load())
	}
	checkSecondStep(t, run)
	s.checkStopped(t, 0, 1)
}

// checkSecondStep checks that two steps are in a record, and the second is measured, of
// a chain that was 10 s old.
func checkSecondStep(t *testing.T, run *result.Run) {
	t.Helper()
	if first := run.Samples[0].OfferedPerSecond; first == 154 {
		t.Errorf("the record begins with the load of before: %d", first)
	}
	for _, sample := range run.MeasuredSamples() {
		if sample.OfferedPerSecond != 300 {
			t.Errorf("a measured sample offers %d, want those of the last step", sample.OfferedPerSecond)
		}
	}
	if settled := run.Window.BeginMs - run.LoadBeganMs; settled < 2000 {
		t.Errorf("the measurement begins %d ms after the load, want a step of 1 s and a warm-up of 1 s", settled)
	}
	if least := uint64(10 * time.Second / blockTime); run.BeganHeight < least || run.BeganHeight != run.Blocks[0].Height {
		t.Errorf("the load began at height %d, and the first block is %d", run.BeganHeight, run.Blocks[0].Height)
	}
}

// A network that does not come to rest is not measured.
func TestANetworkThatDoesNotRest(t *testing.T) {
	t.Parallel()
	s := &steered{}
	s.wrong = func(_ int, status *chain.Status) { status.Pool.Transactions = 1 }
	run, err := s.recordLoad(t.Context(), t, twoSteps(), func(options *recording.Options) {
		inUse(options)
		options.Patience = 2 * time.Second
	})
	if run != nil || err == nil || !strings.Contains(err.Error(), "the network did not come to rest within 2s") {
		t.Errorf("the run is %+v and the error %v, want that it did not come to rest", run, err)
	}
}

// Whoever gives the network another load in the middle breaks the run, also where a
// schedule says the rates.
func TestAScheduleThatIsMeddledWith(t *testing.T) {
	t.Parallel()
	s := &steered{}
	s.wrong = func(node int, status *chain.Status) {
		if node == 0 && s.told[0].Load() > 1 && s.asked.Load() > 12 {
			status.Load.TransfersPerSecond = 77_777
		}
	}
	run, err := s.recordLoad(t.Context(), t, twoSteps(), inUse)
	if err != nil {
		t.Fatal(err)
	}
	if want := "validator node-0 signs 77777 transfers per second, and was told "; !strings.Contains(run.Fault, want) {
		t.Errorf("the fault is %q, want %q", run.Fault, want)
	}
	s.checkStopped(t, 0, 1)
}

// The recorder runs a search like any other controller, and its steps are in the record.
func TestRecordOfASearch(t *testing.T) {
	t.Parallel()
	s := &steered{}
	// What is signed is executed at once.
	s.wrong = func(_ int, status *chain.Status) {
		status.Transfers = status.FinalizedHeight * uint64(steadyRate*blockTime.Milliseconds()/1000)
	}
	run, err := s.recordLoad(t.Context(), t, &v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileSearch, Search: &v1alpha1.SearchLoad{
		InitialTransfersPerSecond: steadyRate, MaxTransfersPerSecond: steadyRate, StepSeconds: 3,
		PrecisionPercent: 5, MaxSearchSeconds: 60, OfferedPercent: 100,
	}}, func(*recording.Options) {})
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || run.Search == nil || run.Search.HeldPerSecond != steadyRate || len(run.Search.Steps) == 0 {
		t.Errorf("the search came to %+v, and the fault is %q", run.Search, run.Fault)
	}
	s.checkStopped(t, 0, 1)
}

// Of two recorders of one run, the second one does not begin.
func TestARecorderBeginsOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, second := bench.PlannedRun{Repetition: 1}, bench.PlannedRun{Repetition: 2}
	for _, run := range []bench.PlannedRun{first, second} {
		if err := recording.Begin(folder, run); err != nil {
			t.Errorf("%s does not begin: %v", run, err)
		}
	}
	if err := recording.Begin(folder, first); err == nil || !strings.Contains(err.Error(), "another recorder began run 1 before this one") {
		t.Errorf("the error is %v, want that another recorder began", err)
	}
}
