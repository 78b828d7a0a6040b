// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/local/machinenodes"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/smallnetwork"
	"github.com/shardyard/shardyard/test/waiting"
)

// recordUsers records a network of stand-ins under users who send once in a second,
// a second of warm-up and a second of measurement for each of their numbers.
func recordUsers(
	ctx context.Context, t *testing.T, stateDir string, misbehaviours map[string]misbehaviour, users ...int32,
) (*result.Run, *output.Buffer, error) {
	t.Helper()
	network, err := manifest.Read(smallnetwork.Manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	load := &v1alpha1.OpenLoopLoad{EveryMilliseconds: 1000}
	for _, number := range users {
		load.Steps = append(load.Steps, v1alpha1.OpenLoopStep{Users: number})
	}
	network.Spec.Load = &v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileOpenLoop, OpenLoop: load,
		Workload: &v1alpha1.Workload{
			Senders: v1alpha1.SendersUniform, Receivers: v1alpha1.ReceiversUniform, WithinShardPercent: ptr.To[int32](50),
		},
	}
	var progress output.Buffer
	run, err := Record(ctx, RecordOptions{
		Network: network, StateDir: stateDir, Shardnode: standinProgram(t, misbehaviours),
		WarmUp: time.Second, Duration: time.Second, ReadyTimeout: waiting.Patience, Progress: &progress,
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the progress was\n%s", &progress)
		}
	})
	return run, &progress, err
}

// Blocks of stand-ins execute 200 transfers in a second: what 150 users send, and not
// what 400 do.
func TestRecordOfUsers(t *testing.T) {
	t.Parallel()
	run, progress, err := recordUsers(t.Context(), t, t.TempDir(), nil, 150, 400)
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || run.OpenLoop == nil || len(run.OpenLoop.Steps) != 2 || run.OpenLoop.KneeUsers != 150 {
		t.Fatalf("the users came to %+v, with the fault %q", run.OpenLoop, run.Fault)
	}
	first, last := &run.OpenLoop.Steps[0], &run.OpenLoop.Steps[1]
	if first.Transfers.Executed != 300 || last.Transfers.Executed != 400 || last.Transfers.Refused["full"] != 400 {
		t.Errorf("the steps are %+v and %+v", first.Transfers, last.Transfers)
	}
	checkBlocksOf(t, first)
	checkBlocksOf(t, last)
	if run.Window != last.Window || run.Window.EndMs-run.Window.BeginMs != 1000 {
		t.Errorf("the measurement is %+v, want that of the last step, %+v", run.Window, last.Window)
	}
	checkOffered(t, run.Samples, first)
	checkOffered(t, run.Samples, last)
	if want := "THE LOADER, NOT THE CHAIN, WAS THE LIMIT"; !strings.Contains(progress.String(), want) ||
		!slices.ContainsFunc(run.Notes, func(note string) bool { return strings.HasPrefix(note, want+" with 400 users") }) {
		t.Errorf("nobody says %q: %q", want, run.Notes)
	}
}

// checkBlocksOf wants blocks to have the last word on a step.
func checkBlocksOf(t *testing.T, step *result.OpenLoopStep) {
	t.Helper()
	if step.ExecutedPerSecond == nil || *step.ExecutedPerSecond < 150 || *step.ExecutedPerSecond > 250 {
		t.Errorf("%d users have %v transfers per second, want those of blocks", step.Users, step.ExecutedPerSecond)
	}
	if step.ExecutedInBlocks == nil || *step.ExecutedInBlocks < step.Transfers.Executed {
		t.Errorf("the blocks of %d users hold %v", step.Users, step.ExecutedInBlocks)
	}
}

// checkOffered wants samples to say what the users of a step offer, and nothing of
// generators.
func checkOffered(t *testing.T, samples []result.Sample, step *result.OpenLoopStep) {
	t.Helper()
	for _, sample := range samples {
		within := sample.TimeMs >= step.BeganMs && sample.TimeMs < step.EndedMs
		if sample.Signed != nil || within && sample.OfferedPerSecond != int64(step.Users) {
			t.Errorf("a sample is %+v, want what %d users offer", sample, step.Users)
		}
	}
}

// A loader that cannot load is no silence: the run ends, and does not count.
func TestLoaderThatEnds(t *testing.T) {
	t.Parallel()
	run, progress, err := recordUsers(t.Context(), t, t.TempDir(), map[string]misbehaviour{loaderName: {ExitCode: 3}}, 150, 400)
	if err != nil {
		t.Fatal(err)
	}
	if want := "the loader of 150 users: ended with an error: exit status 3: "; !strings.HasPrefix(run.Fault, want) ||
		!strings.HasSuffix(run.Fault, "is what this loader finds wrong") {
		t.Errorf("the fault is %q, want %q and why", run.Fault, want)
	}
	if !strings.Contains(progress.String(), "the last lines of ") {
		t.Error("the log of the loader is not shown")
	}
	if run.OpenLoop == nil || len(run.OpenLoop.Steps) != 0 {
		t.Errorf("the users came to %+v, want nothing", run.OpenLoop)
	}
}

// What a loader was told and no block holds is a contradiction.
func TestLoaderThatContradictsBlocks(t *testing.T) {
	t.Parallel()
	run, _, err := recordUsers(t.Context(), t, t.TempDir(), map[string]misbehaviour{loaderName: {LoseSupply: true}}, 150)
	if err != nil {
		t.Fatal(err)
	}
	want := "the loader of 150 users was told that 300 of their transfers are executed, and the blocks of that time hold 0"
	if run.Fault != want {
		t.Errorf("the fault is %q, want %q", run.Fault, want)
	}
}

// Whoever interrupts a run leaves no loader behind.
func TestInterruptedLoader(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	stateDir := t.TempDir()
	found := make(chan int, 1)
	go func() {
		defer cancel()
		log := statedir.NetworkDir(filepath.Join(stateDir, "net")).LoaderLog(0)
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if content, err := os.ReadFile(log); err != nil || !strings.Contains(string(content), loaderWaits) {
				continue
			}
			if pid := processWith(filepath.Dir(log)); pid != 0 {
				found <- pid
				return
			}
		}
	}()
	run, _, err := recordUsers(ctx, t, stateDir, nil, 150)
	if run != nil || !errors.Is(err, errRunInterrupted) {
		t.Errorf("the run is %+v and the error %v, want %v", run, err, errRunInterrupted)
	}
	select {
	case pid := <-found:
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the loader still runs as process %d: %v", pid, err)
		}
	default:
		t.Error("there was no loader")
	}
}

// processWith is a process with a text on its command line; 0 if there is none.
func processWith(text string) int {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), text) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			return pid
		}
	}
	return 0
}

// Users talk to rpc nodes, and to producers where there are none.
func TestNodesOfClients(t *testing.T) {
	t.Parallel()
	ports, guards, err := machinenodes.HoldPorts(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = machinenodes.ReleasePorts(ports), machinenodes.ReleasePorts(guards) })
	at := func(role topology.Role, number int) *supervision.Supervisor {
		return &supervision.Supervisor{Node: machinenodes.Node{Validator: topology.Validator{Role: role}, HTTP: ports[number]}}
	}
	producer, validator := at(topology.RoleProducer, 0), at(topology.RoleChunkValidator, 1)
	first, second := at(topology.RoleRPC, 2), at(topology.RoleRPC, 3)
	cases := map[string]struct {
		given []*supervision.Supervisor
		want  []*supervision.Supervisor
	}{
		"with rpc nodes":    {[]*supervision.Supervisor{producer, validator, first, second}, []*supervision.Supervisor{first, second}},
		"without rpc nodes": {[]*supervision.Supervisor{producer, validator}, []*supervision.Supervisor{producer}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			for _, supervisor := range test.want {
				want = append(want, "http://"+supervisor.Node.HTTP.Address())
			}
			if got := clientNodes(test.given); !slices.Equal(got, want) {
				t.Errorf("clients talk to %q, want %q", got, want)
			}
		})
	}
}
