// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// finite is a chain of one shard that carries a fixed count from its first block on,
// with a block each second.
type finite struct {
	// chunks are how many transfers are in the chunk of each second, and failed how many
	// of these fail.
	chunks, failed []uint64
	// refused is what the pool refuses, as it is known from a second on.
	refused, refusedFrom int
	// leftover is in the last chunk before the load.
	leftover uint64
}

// run is a record of so many seconds of a count of 100 transfers that may take 10 s. A
// sample is taken half a second after each block, which is not known before the next but
// one.
func (c *finite) run(t *testing.T, seconds int) result.Run {
	t.Helper()
	recorder := record.NewCounted(record.Count{Transfers: 100, Limit: 10 * time.Second, Refused: 7}, began, "genesis")
	inChunk := func(all []uint64, second int) uint64 {
		if second < 0 || second >= len(all) {
			return 0
		}
		return all[second]
	}
	finalise := func(second int) {
		height := uint64(second) + 1
		made := header(0, height, inChunk(c.chunks, second))
		if before := second - 1; before >= 0 {
			made.Results = []chain.ExecutionResult{executed(height-1, inChunk(c.chunks, before)-inChunk(c.failed, before), 0)}
		}
		if second == 0 {
			made.Transactions = &c.leftover
		}
		if second == 1 {
			made.Results = []chain.ExecutionResult{executed(height-1, c.leftover, 0)}
		}
		if err := recorder.Block(block(height, int64(second), made)); err != nil {
			t.Fatal(err)
		}
	}
	for second := range seconds {
		row := sample(second, node("p", topology.RoleProducer, 0, 7, used(float64(second), 1, 1)))
		row.OfferedPerSecond = 0
		row.At = row.At.Add(500 * time.Millisecond)
		if second >= c.refusedFrom {
			row.Nodes[0].Status.Load.Rejected += uint64(c.refused)
		}
		recorder.Sample(row)
		if second >= 2 {
			finalise(second - 2)
		}
		if recorder.Complete() {
			break
		}
	}
	return recorder.Run("")
}

// The measurement lasts from the beginning of the load to the block whose headers say
// what became of the last transfer: of those that are in the chunks of one block, the
// next block says it.
func TestFixedCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chain finite
		last  int64
		want  result.FixedCount
		notes []string
	}{
		"all are executed": {
			finite{chunks: []uint64{0, 40, 60, 0}}, 3, result.FixedCount{Transfers: 100, Executed: 100, LastHeight: 4}, nil,
		},
		"the last ones are late": {
			finite{chunks: []uint64{0, 99, 0, 0, 0, 1}}, 6, result.FixedCount{Transfers: 100, Executed: 100, LastHeight: 7}, nil,
		},
		"what a block of before holds is not of it": {
			finite{chunks: []uint64{0, 40, 60}, leftover: 50}, 3, result.FixedCount{Transfers: 100, Executed: 100, LastHeight: 4}, nil,
		},
		"some fail": {
			finite{chunks: []uint64{0, 40, 60}, failed: []uint64{0, 0, 5}},
			3,
			result.FixedCount{Transfers: 100, Executed: 95, Failed: 5, LastHeight: 4},
			[]string{"of 100 transfers, 95 were executed: 5 failed, and 0 were refused by pools"},
		},
		"a pool refuses some, as is known late": {
			finite{chunks: []uint64{0, 40, 57}, refused: 3, refusedFrom: 7},
			3,
			result.FixedCount{Transfers: 100, Executed: 97, Refused: 3, LastHeight: 4},
			[]string{"of 100 transfers, 97 were executed: 0 failed, and 3 were refused by pools"},
		},
		"others send, too": {
			finite{chunks: []uint64{0, 40, 61}},
			3,
			result.FixedCount{Transfers: 100, Executed: 101, LastHeight: 4},
			[]string{"blocks hold the ends of 101 transfers, and the load had 100: others sent some meanwhile, " +
				"and the last of the load may have come later"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := test.chain.run(t, 20)
			if run.Fault != "" || !reflect.DeepEqual(*run.FixedCount, test.want) {
				t.Errorf("the count came to %+v, want %+v, with the fault %q", run.FixedCount, test.want, run.Fault)
			}
			begin := began.UnixMilli()
			if want := (result.Window{BeginMs: begin, EndMs: begin + test.last*1000}); run.Window != want {
				t.Errorf("the measurement is %+v, want %+v", run.Window, want)
			}
			if !slices.Equal(run.Notes, test.notes) {
				t.Errorf("the notes are %q, want %q", run.Notes, test.notes)
			}
			// Of the samples from half a second on, those before the last block.
			if used := ptr.Deref(run.Nodes[0].CPUSeconds, -1); used != float64(test.last-1) {
				t.Errorf("the node used %f seconds, want %d", used, test.last-1)
			}
		})
	}
}

// A count that does not come to its end in time is a fault that says how far it came.
func TestFixedCountsThatDoNotEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chain   finite
		seconds int
		want    string
	}{
		"some are missing": {
			finite{chunks: []uint64{0, 40, 50}, failed: []uint64{0, 4, 0}, refused: 2},
			20,
			"of 100 transfers, 86 were executed, 4 failed and 2 were refused by pools within 10s: the others had come to no end",
		},
		"the last are too late": {
			finite{chunks: []uint64{0, 99, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
			20,
			"of 100 transfers, 99 were executed, 0 failed and 0 were refused by pools within 10s: the others had come to no end",
		},
		"the chain stands still": {
			finite{chunks: []uint64{0, 40, 60}},
			5,
			"of 100 transfers, 40 were executed, 0 failed and 0 were refused by pools within 10s: the others had come to no end, " +
				"and the chain stood still",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := test.chain.run(t, test.seconds)
			if run.Fault != test.want || run.FixedCount.LastHeight != 0 {
				t.Errorf("the fault is\n%q, want\n%q; the count came to %+v", run.Fault, test.want, run.FixedCount)
			}
			if got := run.Window.EndMs - run.Window.BeginMs; got != 10_000 {
				t.Errorf("the measurement lasts %d ms, want as long as it may", got)
			}
		})
	}
}

// The latest time at which a measurement ends is known before it has.
func TestWhenAFixedCountEnds(t *testing.T) {
	t.Parallel()
	recorder := record.NewCounted(record.Count{Transfers: 5, Limit: time.Minute}, began, "genesis")
	if got, want := recorder.LatestMs(), began.Add(time.Minute).UnixMilli(); got != want || recorder.Settled() || recorder.Complete() {
		t.Errorf("it ends at %d at the latest, want %d, and is settled: %t", got, want, recorder.Settled())
	}
	for _, block := range []*chain.Block{
		block(1, 0, header(0, 1, 0)), block(2, 1, header(0, 2, 5)), block(3, 2, header(0, 3, 0, executed(2, 5, 0))),
	} {
		if err := recorder.Block(block); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := recorder.LatestMs(), began.Add(2*time.Second).UnixMilli(); got != want || !recorder.Complete() {
		t.Errorf("it ended at %d, want %d, and is complete: %t", got, want, recorder.Complete())
	}
	if got := recorder.Run("a node ended").Fault; got != "a node ended" {
		t.Errorf("the fault is %q", got)
	}
}

// Nodes are asked what they counted as the load begins, and once more when its end is
// known.
func TestCountsOfAFixedCount(t *testing.T) {
	t.Parallel()
	recorder := record.NewCounted(record.Count{Transfers: 5, Limit: time.Minute}, began, "genesis")
	node := &counting{scale: 1}
	ask := func(second int) {
		recorder.Count(t.Context(), began.Add(time.Duration(second)*time.Second), []record.Teller{{Name: "p", Metrics: node}})
	}
	ask(0)
	ask(1)
	if node.asked != 1 {
		t.Errorf("a node was asked %d times before the end, want once", node.asked)
	}
	for _, block := range []*chain.Block{
		block(1, 0, header(0, 1, 0)), block(2, 1, header(0, 2, 5)), block(3, 2, header(0, 3, 0, executed(2, 5, 0))),
	} {
		if err := recorder.Block(block); err != nil {
			t.Fatal(err)
		}
	}
	ask(4)
	ask(5)
	counts := recorder.Run("").Counts
	if at := began.UnixMilli(); node.asked != 2 || counts == nil || counts.BeginMs != at || counts.EndMs != at+4000 {
		t.Errorf("a node was asked %d times, and the counts are %+v", node.asked, counts)
	}
}
