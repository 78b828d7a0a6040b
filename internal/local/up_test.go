// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/smallnetwork"
	"github.com/shardyard/shardyard/test/waiting"
)

// A stand-in's block has 10 transfers and takes 50 ms, and a stand-in uses a
// tenth of a core.
func TestUp(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, nil)
	run.says(t, "ready after ")
	processes := run.processes(t)
	// In shares that sum to the rate.
	lastShares := map[string]string{"net-s0-p0": "10", "net-s0-p1": "11", "net-s1-p0": "10", "net-s1-p1": "11"}
	for validator, share := range lastShares {
		run.signs(t, validator, share)
	}
	run.says(t, "TPS 200 | block time 50 ms | height ")
	run.interrupt()
	summary, err := run.end(t)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Shards != 2 || summary.Validators != 4 || !summary.SupplyConserved ||
		!strings.HasPrefix(summary.GenesisHash, "genesis of ") {
		t.Errorf("the summary is %+v", *summary)
	}
	checkMeasured(t, summary)

	if len(processes.Validators) != 4 {
		t.Fatalf("%d validators run, want 4", len(processes.Validators))
	}
	for _, validator := range processes.Validators {
		if isRunning(validator.PID) {
			t.Errorf("the process of %s is left", validator.Name)
		}
	}
	// Every change once, and none at the end.
	for validator, want := range map[string]string{
		"net-s0-p0": "2 10 0", "net-s0-p1": "3 11 0", "net-s1-p0": "2 10 0", "net-s1-p1": "3 11 0",
	} {
		if got := run.loads(t, validator); got != want {
			t.Errorf("%s was told the rates %s, want %s", validator, got, want)
		}
	}
	for _, want := range []string{
		"made the keys of 4 validators\n", "made the genesis document of 200 accounts\n", "4 of 4 validators ready\n",
		"load: 10 transfers per second\n", "load: 42 transfers per second\n",
	} {
		if !strings.Contains(run.progress.String(), want) {
			t.Errorf("the progress does not say %q:\n%s", want, &run.progress)
		}
	}
}

func checkMeasured(t *testing.T, summary *Summary) {
	t.Helper()
	// The first step of the load takes a second.
	if summary.TPS != 200 || summary.BlockTimeMs != 50 || summary.WindowSeconds < 0.9 {
		t.Errorf("measured are %f TPS and a block time of %f ms over %f s, want 200 TPS and 50 ms over at least a second",
			summary.TPS, summary.BlockTimeMs, summary.WindowSeconds)
	}
	if summary.Executed < 190 || summary.CrossShard != summary.Executed/2 {
		t.Errorf("%d executed, %d of them to another shard; want half of at least 190", summary.Executed, summary.CrossShard)
	}
	// 0.4 s in every second, for 200 transfers.
	if got := *summary.CPUMicrosecondsPerTransfer; got < 1000 || got > 4000 {
		t.Errorf("%f µs per transfer, want about 2000", got)
	}
}

// The duration counts from the block that the run begins with, which comes when
// all validators are ready.
func TestUpForADuration(t *testing.T) {
	t.Parallel()
	summary, err := startUp(t, t.TempDir(), Options{Duration: 2 * time.Second}, nil).end(t)
	if err != nil {
		t.Fatal(err)
	}
	if summary.WindowSeconds < 1.9 {
		t.Errorf("%f s were measured, want two", summary.WindowSeconds)
	}
}

// A chunk validator runs like the others, signs no share of the load, and has no
// state that a header could confirm.
func TestUpWithChunkValidator(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{
		Manifest: smallnetwork.Manifest(t, "producersPerShard: 2", "producersPerShard: 2\n  chunkValidators: 1", "nodes: 4", "nodes: 5",
			"durationSeconds: 1", "durationSeconds: 60"),
	}, nil)
	run.signs(t, "net-s1-p1", "3")
	run.says(t, "TPS ")
	run.interrupt()
	summary, err := run.end(t)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Validators != 5 {
		t.Errorf("%d validators ran, want 5", summary.Validators)
	}
	if got := run.loads(t, "net-s1-p1"); got != "3 0" {
		t.Errorf("the last producer was told the rates %s, want 3 0", got)
	}
	for _, unwanted := range []string{"does not take its load", "no header confirmed", "is not compared"} {
		if strings.Contains(run.progress.String(), unwanted) {
			t.Errorf("the progress says %q:\n%s", unwanted, &run.progress)
		}
	}
}

func TestUpIsInterrupted(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	run := startUp(t, stateDir, Options{}, nil)
	run.says(t, "TPS ")
	run.interrupt()
	first, err := run.end(t)
	if err != nil {
		t.Fatal(err)
	}

	// The next run goes on where this one stopped.
	run = startUp(t, stateDir, Options{}, nil)
	run.says(t, "TPS ")
	if got := run.progress.String(); !strings.Contains(got, "resuming the chain of ") {
		t.Errorf("the chain is not resumed:\n%s", got)
	}
	run.interrupt()
	second, err := run.end(t)
	if err != nil {
		t.Fatal(err)
	}
	if second.Height <= first.Height || second.GenesisHash != first.GenesisHash {
		t.Errorf("the chain goes on from %+v with %+v", *first, *second)
	}
}

// A validator that is killed is started again where it was, and signs its share
// again. Meanwhile the others go on.
func TestUpRestartsValidators(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{
		Manifest: smallnetwork.Manifest(t, "transfersPerSecond: 10", "transfersPerSecond: 42"),
	}, nil)
	run.says(t, "TPS ")
	before := run.processes(t)
	victim := before.Validators[2]
	if err := syscall.Kill(victim.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	run.says(t, "validator net-s1-p0 ended (signal: killed), starting it again in 500ms\n")
	run.says(t, "validator net-s1-p0 is ready again\n")
	run.signs(t, victim.Name, "10 10")

	for i, validator := range run.processes(t).Validators {
		was := before.Validators[i]
		if validator.HTTP != was.HTTP || validator.P2P != was.P2P {
			t.Errorf("%s listens on %s and %s, before on %s and %s", validator.Name, validator.HTTP, validator.P2P, was.HTTP, was.P2P)
		}
		if restarted := validator.PID != was.PID; restarted != (validator.Name == victim.Name) {
			t.Errorf("process %d of %s has become %d", was.PID, validator.Name, validator.PID)
		}
	}
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
	if got := run.loads(t, "net-s0-p0"); got != "10 0" {
		t.Errorf("a validator that went on was told the rates %s, want each once", got)
	}
}

// A validator that hangs is not ready while it does. It holds up neither the
// others nor the end of the run, and nobody is told that it was compared.
func TestUpWithHungValidator(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, nil)
	run.says(t, "TPS ")
	hung := run.processes(t).Validators[1]
	client := chain.NewClient(hung.HTTP, chain.Admin{})
	t.Cleanup(client.Close)
	hang := func() {
		t.Helper()
		if err := syscall.Kill(hung.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		// On a busy machine, its threads stop some time after the signal.
		waiting.Until(t, hung.Name+" hangs", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := client.Status(ctx)
			return err != nil
		})
	}
	goOn := func() {
		t.Helper()
		if err := syscall.Kill(hung.PID, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}

	hang()
	run.says(t, "validator net-s0-p1 is not ready any more: does not answer\n")
	run.says(t, "3 of 4 validators ready")
	goOn()
	run.says(t, "validator net-s0-p1 is ready again\n")

	hang()
	run.interrupt()
	run.says(t, "validator net-s0-p1 is not compared with the others: it does not answer\n")
	run.says(t, "stopping 4 validators\n")
	// The signal to stop waits for it.
	goOn()
	summary, err := run.end(t)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Executed == 0 || !summary.SupplyConserved {
		t.Errorf("the summary is %+v", *summary)
	}
}

func TestUpFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		options Options
		wrong   misbehaviour
		want    string
		// progress is what is shown besides.
		progress string
	}{
		"wrong file": {
			wrong:    misbehaviour{ExitCode: 2},
			want:     "validator net-s0-p1 cannot run: exit status 2; its log is ",
			progress: "config.json: p2p.listen: is what this stand-in finds wrong\n",
		},
		"never ready": {
			// Long enough for the three others on a busy machine.
			options:  Options{ReadyTimeout: 45 * time.Second},
			wrong:    misbehaviour{NeverReady: true},
			want:     "3 of 4 validators became ready in time; validator net-s0-p1: connected to 0 peers, quorum needs 2; its log is ",
			progress: "net-s0-p1 starts\n",
		},
		"no program": {
			options: Options{Shardnode: "/no/such/program"},
			want:    "start /no/such/program: ",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := startUp(t, t.TempDir(), test.options, map[string]misbehaviour{"net-s0-p1": test.wrong})
			summary, err := run.end(t)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want it to say %q", err, test.want)
			}
			if summary != nil {
				t.Errorf("the summary is %+v, want none", *summary)
			}
			if !strings.Contains(run.progress.String(), test.progress) {
				t.Errorf("the progress does not say %q:\n%s", test.progress, &run.progress)
			}
		})
	}
}

func TestUpIsInterruptedBeforeReady(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, map[string]misbehaviour{"net-s0-p1": {NeverReady: true}})
	run.says(t, "3 of 4 validators ready\n")
	run.interrupt()
	if _, err := run.end(t); err == nil || !strings.Contains(err.Error(), "interrupted before the network was ready") {
		t.Errorf("the error is %v", err)
	}
}

// A chain that is at fault ends its run at once, with a summary and an error.
func TestUpFindsFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		wrong     misbehaviour
		want      string
		conserved bool
	}{
		"supply": {misbehaviour{LoseSupply: true}, "supply is not conserved at height ", false},
		"both":   {misbehaviour{GenesisHash: "x", LoseSupply: true}, "diverge: genesis hashes ", false},
		"state":  {misbehaviour{StateRoot: "x"}, "diverge: state roots of shard 0 after height ", true},
		"block":  {misbehaviour{BlockHash: "x"}, "are finalised at height ", true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := startUp(t, t.TempDir(), Options{Duration: time.Minute}, map[string]misbehaviour{"net-s0-p1": test.wrong})
			summary, err := run.end(t)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want it to say %q", err, test.want)
			}
			if summary == nil || summary.SupplyConserved != test.conserved {
				t.Errorf("the summary is %+v, want supplyConserved %t", summary, test.conserved)
			}
		})
	}
}

// A validator that does not take its load is named, once.
func TestUpNamesRefusedLoad(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, map[string]misbehaviour{"net-s0-p1": {RefuseLoad: true}})
	waiting.Until(t, "the validator is told its load again and again", func() bool {
		return strings.Count(run.loads(t, "net-s0-p1"), "refused") >= 3
	})
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(run.progress.String(), "validator net-s0-p1 does not take its load: "); got != 1 {
		t.Errorf("the refusal is told %d times, want once:\n%s", got, &run.progress)
	}
}
