// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/smallnetwork"
	"github.com/shardyard/shardyard/test/waiting"
)

// startRecord records a network of stand-ins, for a second of the last step of
// its load unless the test says otherwise.
func startRecord(
	ctx context.Context, t *testing.T, stateDir string, duration time.Duration, misbehaviours map[string]misbehaviour,
) (*result.Run, error) {
	t.Helper()
	network, err := manifest.Read(smallnetwork.Manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	return recordNetwork(ctx, t, network, stateDir, duration, misbehaviours)
}

func recordNetwork(
	ctx context.Context, t *testing.T, network *v1alpha1.ShardNetwork, stateDir string, duration time.Duration,
	misbehaviours map[string]misbehaviour,
) (*result.Run, error) {
	t.Helper()
	var progress output.Buffer
	run, err := Record(ctx, RecordOptions{
		Network: network, StateDir: stateDir, Shardnode: standinProgram(t, misbehaviours),
		WarmUp: 100 * time.Millisecond, Duration: duration, ReadyTimeout: waiting.Patience, Progress: &progress,
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the progress was\n%s", &progress)
		}
	})
	return run, err
}

// A stand-in's block has 10 transfers and takes 50 ms. It is measured for long enough that a
// busy machine takes a sample meanwhile, and one at which all nodes answer in time.
func TestRecord(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	run, err := startRecord(t.Context(), t, stateDir, 4*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || !strings.HasPrefix(run.GenesisHash, "genesis of ") {
		t.Errorf("the run is of %q, with the fault %q", run.GenesisHash, run.Fault)
	}
	// The first step of the load, that all producers say that they sign the last one, and the
	// warm-up come first.
	if begin := run.LoadBeganMs + 1100; run.Window.BeginMs < begin || run.Window.EndMs != run.Window.BeginMs+4000 {
		t.Errorf("the measurement is %+v, want 4 s that begin at %d at the earliest", run.Window, begin)
	}
	checkBlocks(t, run.MeasuredBlocks())
	if len(run.Nodes) != 4 || run.Nodes[0].Name != "net-s0-p0" || run.Nodes[0].CPUSeconds == nil {
		t.Errorf("the nodes are %+v", run.Nodes)
	}
	samples := run.MeasuredSamples()
	signed := slices.ContainsFunc(samples, func(sample result.Sample) bool { return sample.Signed != nil })
	if !signed || slices.ContainsFunc(samples, func(sample result.Sample) bool { return sample.OfferedPerSecond != 42 }) {
		t.Errorf("the samples are %+v", run.Samples)
	}
	if content, err := os.ReadFile(filepath.Join(stateDir, "net", "runtime.json")); err == nil {
		t.Errorf("the network still runs: %s", content)
	}
}

// Blocks of stand-ins take as long whatever the load, and less than they should:
// the controller goes to the most that it may ask for, and stays there.
func TestRecordOfAClosedLoop(t *testing.T) {
	t.Parallel()
	network, err := manifest.Read(smallnetwork.Manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	network.Spec.Load = &v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileClosedLoop,
		ClosedLoop: &v1alpha1.ClosedLoopLoad{
			TargetBlockTimeMilliseconds: 60, InitialTransfersPerSecond: 10, MaxTransfersPerSecond: 200,
			MaxBacklogBlocks: 4, MaxSettleSeconds: int32(waiting.Patience.Seconds()),
		},
		Workload: &v1alpha1.Workload{Senders: v1alpha1.SendersUniform, Receivers: v1alpha1.ReceiversOneToOne},
	}
	run, err := recordNetwork(t.Context(), t, network, t.TempDir(), 4*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" {
		t.Errorf("the run does not count: %s", run.Fault)
	}
	if first := controlled(t, run.Samples)[0]; first.Control.State != "Starting" || first.OfferedPerSecond != 10 {
		t.Errorf("the first sample is %+v of %+v", first.Control, first)
	}
	for _, sample := range controlled(t, run.MeasuredSamples()) {
		if sample.OfferedPerSecond != 200 || !sample.Control.Steady {
			t.Errorf("a measured sample is %+v of %+v, want a steady 200", sample.Control, sample)
		}
	}
	if len(run.MeasuredBlocks()) < 80 {
		t.Errorf("%d blocks are measured, want those of 4 s", len(run.MeasuredBlocks()))
	}
}

// controlled are the samples that the controller of a load saw, one at least: no node may
// answer in time for another on a busy machine.
func controlled(t *testing.T, samples []result.Sample) []result.Sample {
	t.Helper()
	seen := slices.DeleteFunc(slices.Clone(samples), func(sample result.Sample) bool { return sample.Control == nil })
	if len(seen) == 0 {
		t.Fatalf("the controller saw none of the samples %+v", samples)
	}
	return seen
}

// Blocks of stand-ins hold 10 transfers each, whatever they are told: 500 transfers take
// 50 blocks from the beginning of the load on, and 5000 more than 2 s.
func TestRecordOfAFixedCount(t *testing.T) {
	t.Parallel()
	for transfers, fault := range map[int64]string{500: "", 5000: "were refused by pools within 3s: the others had come to no end"} {
		network, err := manifest.Read(smallnetwork.Manifest(t))
		if err != nil {
			t.Fatal(err)
		}
		network.Spec.Load = &v1alpha1.LoadSpec{
			Profile: v1alpha1.LoadProfileFixedCount, FixedCount: &v1alpha1.FixedCountLoad{Transfers: transfers},
			Signing: v1alpha1.SigningBefore,
		}
		stateDir, limit := t.TempDir(), 3*time.Second
		if fault == "" {
			limit = waiting.Patience
		}
		run, err := recordNetwork(t.Context(), t, network, stateDir, limit, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (run.Fault == "") != (fault == "") || !strings.HasSuffix(run.Fault, fault) {
			t.Errorf("of %d transfers, the fault is %q, want %q", transfers, run.Fault, fault)
		}
		if fault != "" {
			continue
		}
		checkFixedCount(t, run, uint64(transfers))
		loads := filepath.Join(string(statedir.NetworkDir(filepath.Join(stateDir, "net")).Node("net-s0-p0")), "data", "loads")
		told, err := os.ReadFile(loads)
		if want := "125 before\n1000000\n"; err != nil || !strings.HasPrefix(string(told), want) {
			t.Errorf("a producer was told %q, want %q: %v", told, want, err)
		}
	}
}

// checkFixedCount wants a record to begin with the load and to end with the last transfer:
// headers say of the chunk of the block before, and that of the first block was there
// before.
func checkFixedCount(t *testing.T, run *result.Run, transfers uint64) {
	t.Helper()
	count := run.FixedCount
	base := run.Blocks[0].Height
	if count == nil || count.Executed < transfers || count.Executed >= transfers+10 || count.LastHeight != base+transfers/transfersPerBlock+1 {
		t.Fatalf("the count came to %+v of a load that began at height %d", count, base)
	}
	measured := run.MeasuredBlocks()
	if len(measured) == 0 {
		t.Fatalf("no block is measured of a load that began at height %d, in %+v", base, run.Window)
	}
	if last := measured[len(measured)-1]; last.Height != count.LastHeight || last.TimestampMs != run.Window.EndMs {
		t.Errorf("the last measured block is %+v, want %d at %d", last, count.LastHeight, run.Window.EndMs)
	}
	// It begins some blocks after the last one that was told of before.
	first, begin := measured[0], run.Window.BeginMs
	before := run.Blocks[first.Height-1-base]
	if before.TimestampMs > begin || first.TimestampMs <= begin || uint64(len(measured)) != count.LastHeight-before.Height {
		t.Errorf("%d blocks are measured, from %+v on, and the measurement is %+v", len(measured), first, run.Window)
	}
	if begin != run.LoadBeganMs {
		t.Errorf("the measurement is %+v of a load that began at %d", run.Window, run.LoadBeganMs)
	}
	if first := run.Samples[0]; first.TimeMs < begin || first.FinalizedHeight != base || first.OfferedPerSecond != 0 {
		t.Errorf("the first sample is %+v, want one as the load begins at height %d", first, base)
	}
}

// Blocks of stand-ins hold 10 transfers each, 200 in a second, however many are
// offered: of 150 and 300, a search finds that the first holds, and twice that is
// offered.
func TestRecordOfASearch(t *testing.T) {
	t.Parallel()
	network, err := manifest.Read(smallnetwork.Manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	network.Spec.Load = &v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileSearch,
		Search: &v1alpha1.SearchLoad{
			InitialTransfersPerSecond: 150, MaxTransfersPerSecond: 10_000, StepSeconds: 6, PrecisionPercent: 100,
			MaxSearchSeconds: int32(waiting.Patience.Seconds()), OfferedPercent: 200,
		},
	}
	run, err := recordNetwork(t.Context(), t, network, t.TempDir(), 4*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || run.Search == nil || run.Search.HeldPerSecond != 150 {
		t.Fatalf("the search came to %+v, with the fault %q", run.Search, run.Fault)
	}
	for _, sample := range controlled(t, run.MeasuredSamples()) {
		if sample.OfferedPerSecond != 300 || sample.Control.State != "Found" {
			t.Errorf("a measured sample is %+v of %+v, want 300", sample.Control, sample)
		}
	}
	last := run.Search.Steps[len(run.Search.Steps)-1]
	if begin := run.Window.BeginMs; begin < last.EndedMs {
		t.Errorf("the measurement begins at %d, while the search ends at %d", begin, last.EndedMs)
	}
}

// A run whose rate never becomes steady ends, and does not count.
func TestRateThatIsNotSteady(t *testing.T) {
	t.Parallel()
	recording := &recording{
		recorder: record.NewUnsettled(time.Now(), "genesis"),
		driver:   loading.NewDriver(loading.Options{}),
		load:     &loading.Load{Loop: loading.NewLoop(&v1alpha1.ClosedLoopLoad{TargetBlockTimeMilliseconds: 100, MaxSettleSeconds: 300})},
	}
	if got, want := recording.unsettled(), "the controller found no steady rate within 5m0s"; got != want {
		t.Errorf("it is unsettled because %q, want %q", got, want)
	}
	if recording.over(5*time.Minute) || !recording.over(5*time.Minute+1) {
		t.Error("it is over at another time than after five minutes")
	}
	search, err := loading.New(&v1alpha1.LoadSpec{Search: &v1alpha1.SearchLoad{MaxSearchSeconds: 60}})
	if err != nil {
		t.Fatal(err)
	}
	searching := *recording
	searching.load = search
	if got, want := searching.unsettled(), "the search found no rate that holds within 1m0s"; got != want {
		t.Errorf("it is unsettled because %q, want %q", got, want)
	}
	recording.recorder.Settle(time.Now(), 0, time.Second)
	if got := recording.unsettled(); got != "" || recording.over(time.Hour) {
		t.Errorf("once it is settled it is over, or unsettled because %q", got)
	}
}

func checkBlocks(t *testing.T, blocks []result.Block) {
	t.Helper()
	if len(blocks) < 80 || len(blocks) > 82 {
		t.Errorf("%d blocks are measured, want those of 4 s", len(blocks))
	}
	for _, block := range blocks {
		want := result.Block{
			Height: block.Height, TimestampMs: block.TimestampMs, Included: 10, Executed: 10, Failed: new(uint64), Shards: 2,
		}
		if !reflect.DeepEqual(block, want) {
			t.Fatalf("a block is %+v, want %+v", block, want)
		}
	}
}

func TestRecordOfNodesThatContradictEachOther(t *testing.T) {
	t.Parallel()
	run, err := startRecord(t.Context(), t, t.TempDir(), time.Second, map[string]misbehaviour{"net-s1-p0": {StateRoot: "wrong"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(run.Fault, "diverge") {
		t.Errorf("the fault is %q, want that nodes diverge", run.Fault)
	}
}

func TestRecordOfAValidatorThatEnds(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	go func() {
		// Whatever goes wrong here shows as a run without a fault.
		_ = killWhenLoaded(t.Context(), stateDir, "net-s0-p1")
	}()
	run, err := startRecord(t.Context(), t, stateDir, 3*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "validator net-s0-p1 ended in the middle and was started again"; run.Fault != want {
		t.Errorf("the fault is %q, want %q", run.Fault, want)
	}
}

// A producer that takes no load makes a run not count, however little of it is measured:
// what is executed would look like all that the chain does of what is offered.
func TestRecordOfALoadThatIsRefused(t *testing.T) {
	t.Parallel()
	for profile, load := range map[string]*v1alpha1.LoadSpec{
		"a schedule": nil,
		"a closed loop": {
			Profile: v1alpha1.LoadProfileClosedLoop,
			ClosedLoop: &v1alpha1.ClosedLoopLoad{
				TargetBlockTimeMilliseconds: 60, InitialTransfersPerSecond: 10, MaxTransfersPerSecond: 200,
				MaxBacklogBlocks: 4, MaxSettleSeconds: int32(waiting.Patience.Seconds()),
			},
		},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			network, err := manifest.Read(smallnetwork.Manifest(t))
			if err != nil {
				t.Fatal(err)
			}
			if load != nil {
				network.Spec.Load = load
			}
			run, err := recordNetwork(t.Context(), t, network, t.TempDir(), time.Second,
				map[string]misbehaviour{"net-s0-p1": {RefuseLoad: true}})
			if err != nil {
				t.Fatal(err)
			}
			if want := "validator net-s0-p1 did not take its load for 3"; !strings.HasPrefix(run.Fault, want) {
				t.Errorf("the fault is %q, want %q", run.Fault, want)
			}
			if measured := run.MeasuredSamples(); len(measured) > 0 {
				t.Errorf("what others signed is measured: %+v", measured)
			}
			if last := run.Samples[len(run.Samples)-1]; load == nil && last.OfferedPerSecond >= 42 {
				t.Errorf("%d transfers per second are offered, and one of the producers signs none", last.OfferedPerSecond)
			}
		})
	}
}

// Producers of which one or another misses each sample have all said what they sign, once
// each has said it in the last step.
func TestWhatProducersSayThatTheySign(t *testing.T) {
	t.Parallel()
	validators := []topology.Validator{
		{Name: "a", Role: topology.RoleProducer}, {Name: "v", Role: topology.RoleChunkValidator}, {Name: "b", Role: topology.RoleProducer},
	}
	signs := func(rate int64) *chain.Status { return &chain.Status{Load: &chain.Load{TransfersPerSecond: rate}} }
	made := &recording{signed: map[string]int64{}, heard: map[string]bool{}}
	for i, step := range []struct {
		a, b  *chain.Status
		last  bool
		rate  int64
		known bool
	}{
		{signs(1), signs(1), false, 2, false},
		{nil, signs(5), true, 6, false},
		{signs(5), nil, true, 10, true},
		{nil, &chain.Status{}, true, 10, true},
		{signs(5), signs(3), true, 8, true},
	} {
		sample := bench.Sample{Nodes: []bench.NodeSample{{Status: step.a}, {}, {Status: step.b}}}
		if rate, known := made.hear(validators, sample, step.last); rate != step.rate || known != step.known {
			t.Errorf("at sample %d they sign %d (%t), want %d (%t)", i, rate, known, step.rate, step.known)
		}
	}
}

// What is told of a load counts until a run has measured, and ends it.
func TestFaultsOfALoad(t *testing.T) {
	t.Parallel()
	made := &recording{recorder: record.NewUnsettled(time.Now(), "genesis"), load: &loading.Load{}, company: NewCompany(2)}
	if made.over(0) {
		t.Error("it is over before it began")
	}
	made.blame("the first")
	made.blame("the second")
	if made.blamed != "the first" || !made.over(0) || !made.over(0) {
		t.Errorf("it is not over, or is to blame for %q", made.blamed)
	}
	if !made.company.leave(false) {
		t.Error("the run beside it waits for it")
	}
	measured := &recording{left: true}
	if measured.blame("too late"); measured.blamed != "" {
		t.Errorf("what it measured does not count by %q", measured.blamed)
	}
}

// killWhenLoaded kills the process of a validator once it signs a load.
func killWhenLoaded(ctx context.Context, stateDir, validator string) error {
	if err := awaitLoad(ctx, stateDir, validator); err != nil {
		return err
	}
	content, err := os.ReadFile(statedir.NetworkDir(filepath.Join(stateDir, "net")).Runtime())
	if err != nil {
		return err
	}
	var running statedir.Processes
	if err := json.Unmarshal(content, &running); err != nil {
		return err
	}
	for _, process := range running.Validators {
		if process.Name == validator {
			return syscall.Kill(process.PID, syscall.SIGKILL)
		}
	}
	return os.ErrNotExist
}

// awaitLoad waits until a stand-in was told its load.
func awaitLoad(ctx context.Context, stateDir, validator string) error {
	loads := filepath.Join(string(statedir.NetworkDir(filepath.Join(stateDir, "net")).Node(validator)), "data", "loads")
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if _, err := os.Stat(loads); err == nil {
			return nil
		}
	}
}

func TestRecordIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	stateDir := t.TempDir()
	go func() {
		defer cancel()
		_ = awaitLoad(ctx, stateDir, "net-s0-p0")
	}()
	run, err := startRecord(ctx, t, stateDir, time.Hour, nil)
	if run != nil || !errors.Is(err, errRunInterrupted) {
		t.Errorf("the run is %+v and the error %v, want %v", run, err, errRunInterrupted)
	}
}
