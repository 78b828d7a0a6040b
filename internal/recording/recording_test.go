// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	blockTime = 50 * time.Millisecond
	// transfersPerBlock is what every block executes.
	transfersPerBlock = 10
)

// fakeChain is a chain of one shard that exists by the clock alone: its nodes know
// the same blocks without talking to each other.
type fakeChain struct {
	created time.Time
	// rate is what each producer signs.
	rate atomic.Int64
	// wrong changes what a node tells.
	wrong func(node int, status *chain.Status)
	// asked counts how often statuses were told.
	asked atomic.Int64
}

func (c *fakeChain) height(now time.Time) uint64 {
	return uint64(now.Sub(c.created) / blockTime)
}

func (c *fakeChain) timeOf(height uint64) int64 {
	return c.created.Add(time.Duration(height) * blockTime).UnixMilli()
}

func (c *fakeChain) status(node int) chain.Status {
	now := time.Now()
	height := c.height(now)
	status := chain.Status{
		Node: fmt.Sprintf("node-%d", node), GenesisHash: "genesis", Version: "0.1.0",
		Height: height, FinalizedHeight: height, FinalizedTimeMs: c.timeOf(height), BlockHash: fmt.Sprint("block ", height),
		Supply:     chain.Supply{Expected: 1000, Balances: 1000, Conserved: true},
		Shards:     []chain.ShardStatus{{ChunkHeight: height, ExecutedHeight: height - 1, StateRoot: fmt.Sprint("root ", height-1)}},
		Load:       &chain.Load{TransfersPerSecond: c.rate.Load(), Signed: uint64(now.Sub(c.created).Milliseconds())},
		CPUSeconds: now.Sub(c.created).Seconds(),
		Memory:     &chain.Memory{AnonymousBytes: uint64(1000 * (node + 1)), FileBytes: 10},
		Disk:       &chain.Disk{ReadBytes: 5, WrittenBytes: uint64(now.Sub(c.created).Milliseconds())},
		Machine:    &chain.Machine{BusySeconds: 3 * now.Sub(c.created).Seconds(), StolenSeconds: now.Sub(c.created).Seconds()},
	}
	if c.wrong != nil {
		c.wrong(node, &status)
	}
	return status
}

func (c *fakeChain) block(height uint64) chain.Block {
	return chain.Block{Height: height, TimestampMs: c.timeOf(height), Chunks: []chain.ChunkHeader{{
		Height: height, Transactions: ptr.To[uint64](transfersPerBlock),
		Results: []chain.ExecutionResult{{
			Height: height - 1, StateRoot: fmt.Sprint("root ", height-1),
			Transfers: ptr.To[uint64](transfersPerBlock), Credits: ptr.To[uint64](transfersPerBlock),
		}},
	}}}
}

// serve serves a node of the chain, and says where.
func (c *fakeChain) serve(t *testing.T, node int) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		c.asked.Add(1)
		_ = json.NewEncoder(w).Encode(c.status(node))
	})
	mux.HandleFunc("POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Params struct {
				Height uint64 `json:"height"`
			} `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"result": c.block(request.Params.Height)})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// awaitAsked waits until the nodes were asked so many times more.
func (c *fakeChain) awaitAsked(t *testing.T, times int64) {
	t.Helper()
	until := c.asked.Load() + times
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for c.asked.Load() < until {
		select {
		case <-late.C:
			t.Error("nobody asks the nodes")
			return
		case <-ticker.C:
		}
	}
}

// start records the chain of two producers, whose load is of one step.
func (c *fakeChain) start(ctx context.Context, t *testing.T, patience time.Duration) (*result.Run, error) {
	t.Helper()
	c.created = time.Now().Add(-10 * time.Second)
	addresses := map[string]string{}
	var validators []topology.Validator
	for node := range 2 {
		name := fmt.Sprintf("node-%d", node)
		addresses[name] = c.serve(t, node)
		validators = append(validators, topology.Validator{Name: name, Role: topology.RoleProducer, Seat: &topology.Seat{Slot: node}})
	}
	schedule, err := bench.NewSchedule(&v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{
		Steps: []v1alpha1.RampStep{{TransfersPerSecond: ptr.To[int64](200), DurationSeconds: 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return recording.Record(ctx, &recording.Options{
		Validators: validators, Address: func(validator string) string { return addresses[validator] },
		Schedule: schedule, WarmUp: time.Second, Duration: 4 * time.Second, Patience: patience,
		Log: slog.New(slog.DiscardHandler),
	})
}

// The load begins when the producers say so.
func TestRecord(t *testing.T) {
	t.Parallel()
	c := &fakeChain{}
	began := make(chan time.Time, 1)
	go func() {
		c.awaitAsked(t, 4)
		began <- time.Now()
		c.rate.Store(100)
	}()
	run, err := c.start(t.Context(), t, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || run.GenesisHash != "genesis" {
		t.Errorf("the run is of %q, with the fault %q", run.GenesisHash, run.Fault)
	}
	from, to := (<-began).Add(time.Second).UnixMilli(), run.Window.EndMs
	if run.Window.BeginMs < from || run.Window.BeginMs > from+5000 || to != run.Window.BeginMs+4000 {
		t.Errorf("the measurement is %+v, want 4 s, a second after the load began at %d", run.Window, from-1000)
	}
	checkRecord(t, run)
}

// checkRecord checks what was measured for 4 s.
func checkRecord(t *testing.T, run *result.Run) {
	t.Helper()
	blocks := run.MeasuredBlocks()
	if len(blocks) < 80 || len(blocks) > 82 {
		t.Errorf("%d blocks are measured, want those of 4 s", len(blocks))
	}
	for _, block := range blocks {
		if block.Executed != transfersPerBlock || block.Included != transfersPerBlock || block.Failed == nil || *block.Failed != 0 {
			t.Fatalf("a block is %+v", block)
		}
	}
	checkUsage(t, run)
}

// checkUsage checks what two nodes have used, of which the second has twice the
// memory of the first.
func checkUsage(t *testing.T, run *result.Run) {
	t.Helper()
	samples := run.MeasuredSamples()
	if len(samples) < 2 || samples[0].OfferedPerSecond != 200 || samples[0].CPUSeconds == nil {
		t.Fatalf("the samples are %+v", samples)
	}
	first := samples[0]
	if *first.MemoryBytes != 3000 || *first.FileMemoryBytes != 20 || *first.DiskReadBytes != 10 || *first.DiskWrittenBytes < 10_000 {
		t.Errorf("two nodes have used %+v", first)
	}
	if *first.HostBusySeconds < 60 || *first.HostStolenSeconds < 20 {
		t.Errorf("their machines worked %v s, and %v s were stolen", *first.HostBusySeconds, *first.HostStolenSeconds)
	}
	checkNodes(t, run)
}

// checkNodes checks what each of them has used.
func checkNodes(t *testing.T, run *result.Run) {
	t.Helper()
	if len(run.Nodes) != 2 || run.Nodes[0].CPUSeconds == nil || *run.Nodes[0].DiskReadBytes != 0 || *run.Nodes[0].DiskWrittenBytes == 0 {
		t.Fatalf("the nodes are %+v", run.Nodes)
	}
	if *run.Nodes[0].PeakMemoryBytes != 1000 || *run.Nodes[1].PeakMemoryBytes != 2000 {
		t.Errorf("the nodes are %+v", run.Nodes)
	}
}

// What the kernel of one node does not tell is not known of all.
func TestWhatIsNotTold(t *testing.T) {
	t.Parallel()
	c := &fakeChain{wrong: func(node int, status *chain.Status) {
		if node == 1 {
			status.Memory, status.Disk, status.Machine = nil, nil, nil
		}
	}}
	c.rate.Store(100)
	run, err := c.start(t.Context(), t, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range run.MeasuredSamples() {
		if sample.MemoryBytes != nil || sample.DiskWrittenBytes != nil || sample.HostStolenSeconds != nil {
			t.Fatalf("a sample is %+v", sample)
		}
	}
	if run.Nodes[0].PeakMemoryBytes == nil || run.Nodes[1].PeakMemoryBytes != nil || run.Nodes[1].DiskWrittenBytes != nil {
		t.Errorf("the nodes are %+v", run.Nodes)
	}
}

// A validator that gets its first block while it is recorded was not started again.
func TestTheFirstBlockOfAValidator(t *testing.T) {
	t.Parallel()
	c := &fakeChain{}
	c.wrong = func(node int, status *chain.Status) {
		if node == 0 || c.asked.Load() > 6 {
			status.StartedHeight = 150
		}
	}
	c.rate.Store(100)
	run, err := c.start(t.Context(), t, time.Minute)
	if err != nil || run.Fault != "" {
		t.Errorf("the fault is %q and the error %v, want none", run.Fault, err)
	}
}

// What breaks a run is in its record.
func TestRunsThatDoNotCount(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		wrong func(c *fakeChain, node int, status *chain.Status)
		want  string
	}{
		"a validator starts again": {
			func(c *fakeChain, node int, status *chain.Status) {
				if node == 1 && c.asked.Load() > 6 {
					status.CPUSeconds = 0.1
				}
			},
			"validator node-1 ended in the middle and was started again",
		},
		"a validator that works hard starts again": {
			func(c *fakeChain, node int, status *chain.Status) {
				status.StartedHeight = 1
				if node == 1 && c.asked.Load() > 6 {
					status.StartedHeight, status.CPUSeconds = status.Height, status.CPUSeconds+100
				}
			},
			"validator node-1 ended in the middle and was started again",
		},
		"a validator starts again and has no block yet": {
			func(c *fakeChain, node int, status *chain.Status) {
				if node == 0 || c.asked.Load() <= 6 {
					status.StartedHeight = 1
				}
			},
			"validator node-1 ended in the middle and was started again",
		},
		"a generator starts again": {
			func(c *fakeChain, node int, status *chain.Status) {
				if node == 1 && c.asked.Load() > 6 {
					status.Load.Signed = 1
				}
			},
			"validator node-1 ended in the middle and was started again",
		},
		"nodes contradict each other": {
			func(_ *fakeChain, node int, status *chain.Status) {
				if node == 1 {
					status.GenesisHash = "another"
				}
			},
			"diverge",
		},
		"value is lost": {
			func(_ *fakeChain, _ int, status *chain.Status) { status.Supply.Balances-- },
			"supply is not conserved",
		},
		"the load changes": {
			func(c *fakeChain, node int, status *chain.Status) {
				if node == 1 && c.asked.Load() > 6 {
					status.Load.TransfersPerSecond = 7
				}
			},
			"the producers sign 107 transfers per second, and should sign 200",
		},
		"the load does not get there": {
			func(_ *fakeChain, _ int, status *chain.Status) { status.Load.TransfersPerSecond = 99 },
			"the producers sign 198 transfers per second 2s after they should sign 200",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &fakeChain{}
			c.wrong = func(node int, status *chain.Status) { test.wrong(c, node, status) }
			c.rate.Store(100)
			run, err := c.start(t.Context(), t, 2*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(run.Fault, test.want) {
				t.Errorf("the fault is %q, want %q", run.Fault, test.want)
			}
		})
	}
}

func TestNoLoad(t *testing.T) {
	t.Parallel()
	run, err := new(fakeChain).start(t.Context(), t, time.Second)
	if run != nil || err == nil || !strings.Contains(err.Error(), "there was no load to record") {
		t.Errorf("the run is %+v and the error %v, want that there was no load", run, err)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := &fakeChain{}
	c.rate.Store(100)
	go func() {
		defer cancel()
		c.awaitAsked(t, 4)
	}()
	run, err := c.start(ctx, t, time.Minute)
	if run != nil || err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("the run is %+v and the error %v, want that it was interrupted", run, err)
	}
}
