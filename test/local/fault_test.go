// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/waiting"
)

// The exit codes of a fault that was measured: of one without effect, and of one after
// whose effect not everything is as before.
const (
	exitWithoutEffect = 3
	exitNotRecovered  = 4
)

// measurements is how often a fault is measured until what is expected is said of it: a
// machine that is busy with other tests for a moment slows a chain down as a fault does,
// and hides what a fault does.
const measurements = 3

// Without the producers of a shard, be it that they hang, that they are killed, that they
// are cut off from all others, that they have no room to write or that programs with their
// keys take their places which connect to others and say nothing, the chain makes no
// blocks, and with slow disks, wrong clocks or long links of theirs fewer, as shardyard
// fault run tells of the chain. It feels as well that all producers are killed and started
// again at once, and not that all they say is late by a little. Afterwards they take part
// again, and everything is as before.
func TestFaults(t *testing.T) {
	t.Parallel()
	network := up(t, t.TempDir())
	network.says(t, "genesis hash ")
	watch(t, network).awaitTransfers(t)
	runFault(t, network, "Pause", "15", v1alpha1.FaultUnreachable)
	runFault(t, network, "Kill\n  kill: {restart: AfterDuration}", "15", v1alpha1.FaultUnreachable)
	runFault(t, network, "Partition", "8", v1alpha1.FaultImpaired)
	runFault(t, network, "Delay\n  delay: {milliseconds: 300}", "8", v1alpha1.FaultImpaired)
	// Its nodes end it by their own clocks, and may be seen to be back.
	runFault(t, network, "FullDisk", "8", v1alpha1.FaultUnreachable, v1alpha1.FaultRestarted)
	runFault(t, network, "SlowDisk\n  slowDisk: {milliseconds: 1000}", "8", v1alpha1.FaultImpaired)
	runFault(t, network, "Byzantine\n  byzantine: {program: ../../bin/shardnode-hostile-peer, arguments: [silence, '1']}", "8",
		v1alpha1.FaultUnreachable)
	runFault(t, network, "WrongClock\n  wrongClock: {offsetMilliseconds: 4000}", "8", v1alpha1.FaultImpaired)
	killAtOnce(t, network)
	fault := measureUntil(t, network, v1alpha1.ReasonNotFelt, "shard: 1", "Delay\n  delay: {milliseconds: 1}", "8")
	checkReached(t, &fault.Status, v1alpha1.FaultImpaired)
	if len(fault.Status.Felt) > 0 {
		t.Errorf("the chain feels %v, and does not", fault.Status.Felt)
	}
	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}

// killAtOnce has all producers be killed, and started again at once. Nobody makes blocks
// until they are back.
func killAtOnce(t *testing.T, network *command) {
	t.Helper()
	const producers = 4
	before := network.validators(t)
	fault := measureUntil(t, network, v1alpha1.ReasonFelt, "role: Producer", "Kill\n  kill: {restart: AtOnce}", "5")
	for _, validator := range fault.Status.Validators {
		// On a busy machine, one may be back only after the time that is measured.
		if validator.Reached != v1alpha1.FaultRestarted && validator.Reached != v1alpha1.FaultUnreachable {
			t.Errorf("says that %s is %s", validator.Name, validator.Reached)
		}
	}
	if len(fault.Status.Validators) != producers {
		t.Errorf("says %+v", fault.Status)
	}
	for i, after := range network.validators(t)[:producers] {
		if after.PID == before[i].PID {
			t.Errorf("%s is still process %d", after.Name, after.PID)
		}
	}
	// It takes half a second until one is started that ended.
	if during := fault.Status.Windows[1]; during.LongestWaitMilliseconds < 500 {
		t.Errorf("the chain waits for %d ms", during.LongestWaitMilliseconds)
	}
}

// runFault has a fault happen to half of the producers, which should show it, and under
// which the chain makes fewer blocks.
func runFault(t *testing.T, network *command, action, seconds string, reached ...v1alpha1.FaultReach) {
	t.Helper()
	fault := measureFault(t, network, "shard: 1", action, seconds)
	for left := measurements - 1; left > 0 && !slices.Contains(fault.Status.Felt, v1alpha1.FaultFewerBlocks); left-- {
		fault = measureFault(t, network, "shard: 1", action, seconds)
	}
	checkFewerBlocks(t, &fault.Status)
	checkReached(t, &fault.Status, reached...)
}

// measureUntil measures a fault, several times if need be, until this is said of its effect.
func measureUntil(t *testing.T, network *command, reason, validators, action, seconds string) *v1alpha1.Fault {
	t.Helper()
	for left := measurements - 1; ; left-- {
		fault := measureFault(t, network, validators, action, seconds)
		effective := meta.FindStatusCondition(fault.Status.Conditions, v1alpha1.ConditionEffective)
		if effective != nil && effective.Reason == reason {
			return fault
		}
		if left == 0 {
			t.Fatalf("of %s, it never says %s, and at last %+v", action, reason, effective)
		}
	}
}

// measureFault has a fault happen to some validators, and returns it with its status.
// Whatever it did, nothing is left of it afterwards.
func measureFault(t *testing.T, network *command, validators, action, seconds string) *v1alpha1.Fault {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "fault.yaml")
	// What slows the machine down while it is measured is over within recoverySeconds.
	if err := os.WriteFile(manifest, []byte(`
apiVersion: shardyard.dev/v1alpha1
kind: Fault
metadata:
  name: fault
spec:
  networkName: small
  validators:
    `+validators+`
  action: `+action+`
  durationSeconds: `+seconds+`
  baselineSeconds: 5
  recoverySeconds: 300
`), 0o600); err != nil {
		t.Fatal(err)
	}
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), programs.shardyard, "fault", "run", "-f", manifest, "--state-dir", network.stateDir, "-o", "json")
	var progress output.Buffer
	run.Stderr = &progress
	output, err := run.Output()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	var fault v1alpha1.Fault
	if err := json.Unmarshal(output, &fault); err != nil {
		t.Fatalf("standard output is no Fault: %v\n%s%s", err, &progress, output)
	}
	t.Logf("%s", output)
	if got, want := run.ProcessState.ExitCode(), exitCodeOf(&fault.Status); got != want {
		t.Errorf("the exit code is %d, want %d", got, want)
	}
	checkOver(t, network, &fault.Status)
	return &fault
}

// exitCodeOf is the exit code that tells of what came of a fault.
func exitCodeOf(status *v1alpha1.FaultStatus) int {
	switch {
	case !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionEffective):
		return exitWithoutEffect
	case !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionRecovered):
		return exitNotRecovered
	default:
		return 0
	}
}

// checkOver checks that everything is as before a fault: the validators take part, the
// chain is no worse, and no node tells of a fault, or of another build than the others do.
func checkOver(t *testing.T, network *command, status *v1alpha1.FaultStatus) {
	t.Helper()
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionRecovered) || status.RecoveryMilliseconds == nil {
		t.Errorf("afterwards, it says %+v", meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionRecovered))
	}
	if len(status.Windows) != 3 {
		t.Errorf("says %+v", status)
	}
	versions := map[string]bool{}
	for _, validator := range network.validators(t) {
		client := chain.NewClient(validator.HTTP, chain.Admin{})
		defer client.Close()
		waiting.Until(t, validator.Name+" tells its status", func() bool {
			told, err := client.Status(t.Context())
			if err != nil {
				return false
			}
			if told.FaultyLinks > 0 || told.DiskFault != nil || told.ClockOffsetMilliseconds != 0 {
				t.Errorf("%s tells of a fault afterwards: %+v", validator.Name, told)
			}
			versions[told.Version] = true
			return true
		})
	}
	if len(versions) != 1 {
		t.Errorf("afterwards, there are nodes of %v", versions)
	}
}

// checkFewerBlocks checks that it is said of a fault that the chain makes fewer blocks.
func checkFewerBlocks(t *testing.T, status *v1alpha1.FaultStatus) {
	t.Helper()
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionEffective) ||
		!slices.Contains(status.Felt, v1alpha1.FaultFewerBlocks) {
		t.Errorf("the chain feels %v, want %s", status.Felt, v1alpha1.FaultFewerBlocks)
	}
}

// checkReached checks how the two validators of a fault show it: in one of these ways.
func checkReached(t *testing.T, status *v1alpha1.FaultStatus, reached ...v1alpha1.FaultReach) {
	t.Helper()
	for _, validator := range status.Validators {
		if !slices.Contains(reached, validator.Reached) {
			t.Errorf("says that %s is %s", validator.Name, validator.Reached)
		}
	}
	if len(status.Validators) != 2 {
		t.Errorf("says %+v", status)
	}
}
