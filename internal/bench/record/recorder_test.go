// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

var began = time.UnixMilli(1_000_000)

// plan measures from the 5th to the 15th second.
var plan = record.Plan{Settled: 3 * time.Second, WarmUp: 2 * time.Second, Duration: 10 * time.Second}

func newRecorder() *record.Recorder {
	return record.New(plan, began, "genesis")
}

// header makes the header of a shard's chunk.
func header(shard int, height, transactions uint64, results ...chain.ExecutionResult) chain.ChunkHeader {
	return chain.ChunkHeader{Shard: shard, Height: height, Transactions: &transactions, Results: results}
}

func executed(height, transfers, credits uint64) chain.ExecutionResult {
	return chain.ExecutionResult{Height: height, Transfers: &transfers, Credits: &credits}
}

func block(height uint64, second int64, chunks ...chain.ChunkHeader) *chain.Block {
	return &chain.Block{Height: height, TimestampMs: began.UnixMilli() + second*1000, Chunks: chunks}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	recorder := newRecorder()
	for _, block := range []*chain.Block{
		// Of what was executed at height 9, nobody knows how many there were.
		block(10, 0, header(0, 10, 5, executed(9, 1, 1)), header(1, 10, 7)),
		// Shard 1 misses its chunk: its header is an earlier one.
		block(11, 1, header(0, 11, 3, executed(10, 4, 6)), header(1, 10, 7)),
		block(12, 16, header(0, 12, 0, executed(11, 3, 2)), header(1, 12, 9, executed(10, 7, 4))),
	} {
		if err := recorder.Block(block); err != nil {
			t.Fatal(err)
		}
	}
	at := began.UnixMilli()
	want := []result.Block{
		{Height: 10, TimestampMs: at, Included: 12, Executed: 1, Credits: 1, Shards: 2},
		{Height: 11, TimestampMs: at + 1000, Included: 3, Executed: 4, Failed: ptr.To[uint64](1), Credits: 6, Shards: 2, MissedChunks: 1},
		{Height: 12, TimestampMs: at + 16_000, Included: 9, Executed: 10, Failed: ptr.To[uint64](0), Credits: 6, Shards: 2},
	}
	got := recorder.Run("").Blocks
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the blocks are\n%+v, want\n%+v", got, want)
	}
}

func TestWrongBlocks(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		blocks []*chain.Block
		want   string
	}{
		"a gap": {
			[]*chain.Block{block(1, 0), block(3, 1)}, "block 3 follows block 1",
		},
		"no later than the one before": {
			[]*chain.Block{block(1, 1), block(2, 1)}, "the timestamp of block 2 is 1001000 ms, and that of block 1 before it 1001000 ms",
		},
		"no number of transactions": {
			[]*chain.Block{block(1, 0, chain.ChunkHeader{Shard: 2, Height: 1})},
			"block 1 does not say how many transactions the chunk of shard 2 has",
		},
		"no number of transfers": {
			[]*chain.Block{block(2, 0, header(0, 2, 1, chain.ExecutionResult{Height: 1}))},
			"block 2 does not say what shard 0 executed at height 1",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := newRecorder()
			var err error
			for _, block := range test.blocks {
				err = recorder.Block(block)
			}
			if err == nil || err.Error() != test.want {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

func node(name string, role topology.Role, signed, rejected uint64, usage record.Usage) record.Node {
	status := &chain.Status{FinalizedHeight: signed, Version: "0.1.0", CPUSeconds: 99}
	status.Pool.Transactions = 3
	validator := topology.Validator{Name: name, Role: role}
	if role == topology.RoleProducer {
		status.Load = &chain.Load{Signed: signed, Rejected: rejected}
		validator.Seat = &topology.Seat{Shard: 1}
	}
	return record.Node{Validator: validator, Status: status, Usage: usage}
}

func used(cpu float64, memory, written uint64) record.Usage {
	return record.Usage{
		CPUSeconds: &cpu, MemoryBytes: &memory, FileMemoryBytes: ptr.To[uint64](7),
		DiskReadBytes: ptr.To[uint64](0), DiskWrittenBytes: &written,
	}
}

func sample(second int, nodes ...record.Node) record.Sample {
	return record.Sample{At: began.Add(time.Duration(second) * time.Second), OfferedPerSecond: 10, Nodes: nodes}
}

// recorded is a run of a producer and a chunk validator.
func recorded() result.Run {
	recorder := newRecorder()
	for _, at := range []struct {
		second              int
		signed, rejected    uint64
		producer, validator record.Usage
	}{
		{4, 1, 0, used(0, 500, 0), used(0, 1, 0)},
		{5, 100, 5, used(1, 30, 40), used(2, 3, 4)},
		{9, 140, 6, used(3, 90, 90), used(2.5, 5, 9)},
		{15, 199, 6, used(4, 60, 99), used(3, 4, 10)},
		{16, 900, 6, used(9, 900, 999), used(9, 9, 99)},
	} {
		recorder.Sample(sample(at.second, node("p", topology.RoleProducer, at.signed, at.rejected, at.producer),
			node("v", topology.RoleChunkValidator, 0, 0, at.validator)))
	}
	return recorder.Run("")
}

func TestSamples(t *testing.T) {
	t.Parallel()
	run := recorded()
	if got := len(run.Samples); got != 5 {
		t.Fatalf("%d samples are recorded, want 5", got)
	}
	want := result.Sample{
		TimeMs: began.UnixMilli() + 5000, FinalizedHeight: 100, OfferedPerSecond: 10,
		Signed: ptr.To[uint64](100), Rejected: ptr.To[uint64](5), HeldBack: new(uint64), Overdue: new(uint64), Exhausted: new(uint64),
		Pool:       ptr.To[uint64](6),
		CPUSeconds: ptr.To(3.0), CPUSecondsByRole: map[string]float64{"producer": 1, "chunkValidator": 2},
		MemoryBytes: ptr.To[uint64](33), FileMemoryBytes: ptr.To[uint64](14),
		DiskReadBytes: ptr.To[uint64](0), DiskWrittenBytes: ptr.To[uint64](44),
	}
	if got := run.Samples[1]; !reflect.DeepEqual(got, want) {
		t.Errorf("the sample is %+v, want %+v", got, want)
	}
	if got := run.Window; got.BeginMs != began.UnixMilli()+5000 || got.EndMs != began.UnixMilli()+15_000 {
		t.Errorf("the window is %+v", got)
	}
	// 99 of 100 were signed: the generators did what they were told.
	if len(run.Notes) > 0 {
		t.Errorf("there are notes: %v", run.Notes)
	}
}

// What the disks of the machine did is in each sample that knows it.
func TestSamplesOfDisks(t *testing.T) {
	t.Parallel()
	recorder := newRecorder()
	known := sample(5)
	known.Host = record.Host{DiskFlushes: ptr.To[uint64](7), DiskFlushSeconds: ptr.To(0.5)}
	recorder.Sample(known)
	recorder.Sample(sample(6))
	samples := recorder.Run("").Samples
	if got := samples[0]; got.HostDiskFlushes == nil || *got.HostDiskFlushes != 7 ||
		got.HostDiskFlushSeconds == nil || *got.HostDiskFlushSeconds != 0.5 {
		t.Errorf("the sample is %+v, want 7 flushes in half a second", got)
	}
	if got := samples[1]; got.HostDiskFlushes != nil || got.HostDiskFlushSeconds != nil {
		t.Errorf("the sample is %+v, and nobody told of disks", got)
	}
}

// What was used before and after the window is not the measurement's.
func TestNodes(t *testing.T) {
	t.Parallel()
	want := []result.Node{
		{
			Name: "p", Role: "producer", Shard: ptr.To(1), Version: "0.1.0", CPUSeconds: ptr.To(3.0),
			PeakMemoryBytes: ptr.To[uint64](90), DiskReadBytes: ptr.To[uint64](0), DiskWrittenBytes: ptr.To[uint64](59),
		},
		{
			Name: "v", Role: "chunkValidator", Version: "0.1.0", CPUSeconds: ptr.To(1.0),
			PeakMemoryBytes: ptr.To[uint64](5), DiskReadBytes: ptr.To[uint64](0), DiskWrittenBytes: ptr.To[uint64](6),
		},
	}
	if got := recorded().Nodes; !reflect.DeepEqual(got, want) {
		t.Errorf("the nodes are %+v, want %+v", got, want)
	}
}

// What one node does not tell is not known of all of them.
func TestWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	silent := record.Node{Validator: topology.Validator{Name: "s", Role: topology.RoleProducer}, Usage: used(1, 1, 1)}
	recorder := newRecorder()
	recorder.Sample(sample(6, node("p", topology.RoleProducer, 1, 0, record.Usage{}), silent))
	recorder.Sample(sample(7, node("p", topology.RoleProducer, 2, 0, record.Usage{}), silent))
	run := recorder.Run("")
	row := run.Samples[0]
	if row.Signed != nil || row.Rejected != nil || row.Pool != nil || row.MemoryBytes != nil || row.DiskWrittenBytes != nil {
		t.Errorf("the sample is %+v, want nothing that a node did not tell", row)
	}
	// What the machine does not tell of a process, it may tell itself.
	if row.CPUSeconds == nil || *row.CPUSeconds != 100 {
		t.Errorf("the CPU time is %v, want 100 s", row.CPUSeconds)
	}
	if known := run.Nodes[0]; known.PeakMemoryBytes != nil || known.DiskWrittenBytes != nil {
		t.Errorf("the node is %+v", known)
	}
}

// A role of which one node does not tell its CPU time has none; the others have theirs.
func TestCPUOfRoles(t *testing.T) {
	t.Parallel()
	silent := record.Node{Validator: topology.Validator{Name: "s", Role: topology.RoleRPC}}
	recorder := newRecorder()
	recorder.Sample(sample(6, node("p", topology.RoleProducer, 1, 0, used(2, 1, 1)), node("q", topology.RoleProducer, 1, 0, used(3, 1, 1)),
		node("a", topology.RoleArchive, 0, 0, used(7, 1, 1)), node("r", topology.RoleRPC, 0, 0, used(1, 1, 1)), silent))
	row := recorder.Run("").Samples[0]
	if want := map[string]float64{"producer": 5, "archive": 7}; !maps.Equal(row.CPUSecondsByRole, want) || row.CPUSeconds != nil {
		t.Errorf("the sample is %+v, want the CPU time of roles %v and none of all", row, want)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	recorder := newRecorder()
	if err := recorder.Block(block(1, 14)); err != nil {
		t.Fatal(err)
	}
	if recorder.Complete() {
		t.Error("the record is complete before a block after the window")
	}
	if got := recorder.Run("").Fault; !strings.Contains(got, "stood still") {
		t.Errorf("the fault is %q, want that the chain stood still", got)
	}
	if got := recorder.Run("a node ended").Fault; got != "a node ended" {
		t.Errorf("the fault is %q", got)
	}
	if err := recorder.Block(block(2, 15)); err != nil {
		t.Fatal(err)
	}
	if got := recorder.Run("").Fault; !recorder.Complete() || got != "" {
		t.Errorf("the fault is %q, want none", got)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	recorder := newRecorder()
	for _, at := range []struct {
		second int
		signed uint64
	}{{5, 0}, {15, 90}} {
		made := sample(at.second, node("p", topology.RoleProducer, at.signed, 0, used(1, 1, 1)))
		load := made.Nodes[0].Status.Load
		load.Overdue, load.HeldBack, load.Exhausted = at.signed/15, at.signed/22, at.signed/10
		made.Host = record.Host{BusySeconds: ptr.To(float64(at.second)), StolenSeconds: ptr.To(float64(at.second) / 4)}
		recorder.Sample(made)
	}
	// 120 transfers in 10 seconds, of 10 that are offered in each.
	for _, block := range []*chain.Block{
		block(1, 5, header(0, 1, 9)), block(2, 10, header(0, 2, 9, executed(1, 50, 0))), block(3, 15, header(0, 3, 9, executed(2, 70, 0))),
	} {
		if err := recorder.Block(block); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"the generators were too late for 6.0% of the load: they were the limit, and not the chain",
		"the pools had no room for 4.0% of the load, and it was not signed",
		"the transfers that were signed before were used up, and 9.0% of the load was not there: they were the limit, and not the chain",
		"120.0% of the load was executed: the chain had fallen behind before the measurement, which a longer warm-up leaves out",
		"a hypervisor gave 20.0% of the processor time that was wanted to others",
	}
	if got := recorder.Run("").Notes; !slices.Equal(got, want) {
		t.Errorf("the notes are %q, want %q", got, want)
	}
}

// What is offered may change in the measurement, and what is not signed is measured
// against what was offered at the time.
func TestNotesOfALoadThatChanges(t *testing.T) {
	t.Parallel()
	for overdue, want := range map[uint64][]string{
		3: nil,
		4: {"the generators were too late for 1.3% of the load: they were the limit, and not the chain"},
	} {
		recorder := newRecorder()
		for i, offered := range []float64{10, 50, 10} {
			made := sample(5+5*i, node("p", topology.RoleProducer, 0, 0, used(1, 1, 1)))
			made.OfferedPerSecond = offered
			if i == 2 {
				made.Nodes[0].Status.Load.Overdue = overdue
			}
			recorder.Sample(made)
		}
		if got := recorder.Run("").Notes; !slices.Equal(got, want) {
			t.Errorf("with %d overdue transfers of 300 the notes are %q, want %q", overdue, got, want)
		}
	}
}

// Users who send a transfer in many seconds send a fraction of one in a second: who
// executes all of them has no backlog, and who executes more has one.
func TestNotesOfFewUsers(t *testing.T) {
	t.Parallel()
	for executes, want := range map[uint64][]string{
		9:  nil,
		11: {"108.6% of the load was executed: the chain had fallen behind before the measurement, which a longer warm-up leaves out"},
	} {
		recorder := newRecorder()
		for second := range 11 {
			recorder.Sample(record.Sample{
				At: began.Add(time.Duration(5+second) * time.Second), ByClients: true, OfferedPerSecond: 29.0 / 15,
			})
		}
		for _, block := range []*chain.Block{
			block(1, 5, header(0, 1, 10)), block(2, 10, header(0, 2, 11, executed(1, 10, 0))),
			block(3, 15, header(0, 3, 9, executed(2, executes, 0))),
		} {
			if err := recorder.Block(block); err != nil {
				t.Fatal(err)
			}
		}
		run := recorder.Run("")
		if got := run.Notes; !slices.Equal(got, want) {
			t.Errorf("with %d transfers of 19 the notes are %q, want %q", 10+executes, got, want)
		}
		if got := run.Samples[0].OfferedPerSecond; got != 2 {
			t.Errorf("a sample says %d transfers per second, want 29 in 15 s to the nearest whole one", got)
		}
	}
}

// Who does not apply the load says when it settled: nothing is measured before.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	recorder := record.NewUnsettled(began, "genesis")
	recorder.Sample(record.Sample{At: began.Add(time.Second)})
	if err := recorder.Block(block(10, 100, header(0, 10, 5))); err != nil {
		t.Fatal(err)
	}
	if recorder.Complete() {
		t.Error("a run is complete whose load has not settled")
	}
	recorder.Settle(began.Add(3*time.Second), 2*time.Second, 10*time.Second)
	want := result.Window{BeginMs: began.UnixMilli() + 5000, EndMs: began.UnixMilli() + 15_000}
	if got := recorder.Window(); got != want || !recorder.Complete() {
		t.Errorf("the measurement is %+v, want %+v, and it is complete: %v", got, want, recorder.Complete())
	}
}
