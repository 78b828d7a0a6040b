// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/machinenodes"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/smallnetwork"
	"github.com/shardyard/shardyard/test/waiting"
)

// A node that was just started again answers, and knows of no block: what it says then is
// not what became of the chain.
func TestLastSampleOfANodeThatBeganAnew(t *testing.T) {
	t.Parallel()
	run := &run{base: &chain.Status{FinalizedHeight: 10}}
	asked := 0
	ask := func(context.Context) bench.Sample {
		asked++
		status := &chain.Status{Node: "a"}
		if asked > 2 {
			status.FinalizedHeight = 12
		}
		return bench.Sample{Nodes: []bench.NodeSample{{Name: "a", Status: status}}}
	}
	if best := run.lastSample(t.Context(), ask).Best(); best == nil || best.FinalizedHeight != 12 {
		t.Errorf("the last sample has %+v", best)
	}
}

// What is counted is counted up to the last block that anybody told of.
func TestSummaryOfANodeThatBeganAnew(t *testing.T) {
	t.Parallel()
	base := &chain.Status{FinalizedHeight: 10, Transfers: 100, CrossShard: 50, MissedChunks: 3}
	run := &run{group: &supervision.Group{}, base: base, audit: bench.NewAudit()}
	network := &network{Network: &statedir.Network{Plan: &topology.Plan{}, Manifest: &v1alpha1.ShardNetwork{}}}
	for _, status := range []*chain.Status{
		base, {FinalizedHeight: 14, Transfers: 130, CrossShard: 60, MissedChunks: 4}, {},
	} {
		run.observe(bench.Sample{Nodes: []bench.NodeSample{{Name: "a", Status: status}}})
	}
	summary := run.summarize(network, bench.Measurement{})
	if summary.Height != 14 || summary.Executed != 30 || summary.CrossShard != 10 || summary.MissedChunks != 1 {
		t.Errorf("the summary is %+v", summary)
	}
}

// Of an archive that was left out when validators were compared, nothing is known, whatever
// is known of those that were asked in its place.
func TestSummaryWithoutANodeThatIsNotCompared(t *testing.T) {
	t.Parallel()
	node := func(name string, role topology.Role) *supervision.Supervisor {
		return &supervision.Supervisor{Node: machinenodes.Node{Validator: topology.Validator{Name: name, Role: role}}}
	}
	base := &chain.Status{FinalizedHeight: 10}
	run := &run{base: base, audit: bench.NewAudit(), group: &supervision.Group{Supervisors: []*supervision.Supervisor{
		node("silent", topology.RoleProducer), node("left-out", topology.RoleArchive), node("asked", topology.RoleArchive),
	}}}
	network := &network{Network: &statedir.Network{Plan: &topology.Plan{}, Manifest: &v1alpha1.ShardNetwork{}}}
	archived := &chain.Status{
		FinalizedHeight: 10, Shards: make([]chain.ShardStatus, 1),
		Archive: &chain.ArchiveStatus{Shards: make([]chain.ArchivedStatus, 1)},
	}
	run.observe(bench.Sample{Nodes: []bench.NodeSample{{Name: "asked", Status: archived}}})

	want := "; nothing is known of left-out"
	if got := run.summarize(network, bench.Measurement{}).StatesArchived; got == nil || !strings.HasSuffix(got.Says, want) {
		t.Errorf("the summary says %+v, want the end %q", got, want)
	}
}

// A run says what it measured only if the chain went on to its end, or somebody ended it
// before there was anything to measure.
func TestWhatARunIsMeasuredTo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	lapsed, cancelLapsed := context.WithDeadline(t.Context(), now)
	t.Cleanup(cancelLapsed)
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	cases := map[string]struct {
		minBlockTime int32
		age          time.Duration
		height       uint64
		ctx          context.Context
		still, early bool
	}{
		"a chain that goes on":                     {250, 2 * time.Second, 90, t.Context(), false, false},
		"one interrupted at once":                  {250, time.Second, 10, interrupted, false, true},
		"one interrupted after blocks":             {250, time.Second, 90, interrupted, false, false},
		"one whose lifetime ended at once":         {250, time.Second, 10, lapsed, false, true},
		"one whose lifetime ended after blocks":    {250, time.Second, 90, lapsed, false, false},
		"one that was to run for a time":           {250, time.Second, 10, t.Context(), false, false},
		"one that has hung since it began":         {250, time.Minute, 10, interrupted, true, true},
		"one that stood still":                     {250, 31 * time.Second, 90, t.Context(), true, false},
		"one that is meant to be slow":             {60_000, 4 * time.Minute, 90, t.Context(), false, false},
		"one that is meant to be slow and is gone": {60_000, 6 * time.Minute, 90, t.Context(), true, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := &v1alpha1.ShardNetwork{}
			network.Spec.Protocol.MinBlockTimeMilliseconds = test.minBlockTime
			run := &run{
				base:    &chain.Status{FinalizedHeight: 10},
				reached: &chain.Status{FinalizedHeight: test.height, FinalizedTimeMs: now.Add(-test.age).UnixMilli()},
			}
			still := run.standsStill(now, standstillAfter(network))
			if early := run.interruptedAtOnce(test.ctx, bench.ErrNoBlocks); (still != nil) != test.still || early != test.early {
				t.Errorf("it stood still: %v, interrupted at once: %v", still, early)
			}
		})
	}
}

// A run that is ended before its first block ends well, though the chain makes one while
// the validators are compared.
func TestUpInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	manifest := smallnetwork.Manifest(t, "minBlockTimeMilliseconds: 50", "minBlockTimeMilliseconds: 2000")
	run := startUp(t, t.TempDir(), Options{Manifest: manifest}, nil)
	run.says(t, "ready after ")
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Errorf("the run ends with %v", err)
	}
}

// Whoever interrupts a network that has made blocks and hangs is told so, by an error.
func TestANetworkThatHangs(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, nil)
	run.says(t, " ms | height ")
	for _, process := range run.processes(t).Validators {
		if err := syscall.Kill(process.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		// A signal reaches a process once that has a processor: until then it may answer.
		waiting.Until(t, process.Name+" is stopped", func() bool { return state(process.PID) == 'T' })
	}
	run.interrupt()
	if _, err := run.end(t); !errors.Is(err, bench.ErrNoBlocks) {
		t.Errorf("the run ends with %v", err)
	}
}
