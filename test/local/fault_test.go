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
)

// exitNotRecovered is the exit code of a fault that had an effect after which the
// chain is not as before.
const exitNotRecovered = 4

// Without the producers of a shard, be it that they hang, that they are killed, that they
// are cut off from all others, that they have no room to write or that programs with their
// keys take their places which connect to others and say nothing, the chain makes no
// blocks, and with slow disks or wrong clocks of theirs fewer, as shardyard fault run tells
// of the chain. Afterwards they take part again.
func TestFaults(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := up(t, stateDir)
	network.says(t, "genesis hash ")
	watch(t, network).awaitTransfers(t)
	runFault(t, stateDir, "Pause", "15", v1alpha1.FaultUnreachable)
	runFault(t, stateDir, "Kill\n  kill: {restart: AfterDuration}", "15", v1alpha1.FaultUnreachable)
	runFault(t, stateDir, "Partition", "8", v1alpha1.FaultImpaired)
	runFault(t, stateDir, "FullDisk", "8", v1alpha1.FaultUnreachable)
	runFault(t, stateDir, "SlowDisk\n  slowDisk: {milliseconds: 1000}", "8", v1alpha1.FaultImpaired)
	runFault(t, stateDir, "Byzantine\n  byzantine: {program: ../../bin/shardnode-hostile-peer, arguments: [silence, '1']}", "8",
		v1alpha1.FaultUnreachable)
	runFault(t, stateDir, "WrongClock\n  wrongClock: {offsetMilliseconds: 4000}", "8", v1alpha1.FaultImpaired)
	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}

// runFault has a fault happen to half of the producers, which should show it.
func runFault(t *testing.T, stateDir, action, seconds string, reached v1alpha1.FaultReach) {
	t.Helper()
	fault := measureFault(t, stateDir, "shard: 1", action, seconds)
	checkFault(t, &fault.Status, reached)
}

// measureFault has a fault happen to some validators, and returns it with its status.
func measureFault(t *testing.T, stateDir, validators, action, seconds string) *v1alpha1.Fault {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "fault.yaml")
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
`), 0o600); err != nil {
		t.Fatal(err)
	}
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), programs.shardyard, "fault", "run", "-f", manifest, "--state-dir", stateDir, "-o", "json")
	var progress buffer
	run.Stderr = &progress
	output, err := run.Output()
	exit, ended := errors.AsType[*exec.ExitError](err)
	if err != nil && (!ended || exit.ExitCode() != exitNotRecovered) {
		t.Fatalf("%v\n%s%s", err, &progress, output)
	}
	var fault v1alpha1.Fault
	if err := json.Unmarshal(output, &fault); err != nil {
		t.Fatalf("standard output is no Fault: %v\n%s", err, output)
	}
	t.Logf("%s", output)
	return &fault
}

// checkFault checks what is said of a fault under which the chain makes fewer blocks.
func checkFault(t *testing.T, status *v1alpha1.FaultStatus, reached v1alpha1.FaultReach) {
	t.Helper()
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionEffective) ||
		!slices.Contains(status.Felt, v1alpha1.FaultFewerBlocks) {
		t.Errorf("the chain feels %v, want %s", status.Felt, v1alpha1.FaultFewerBlocks)
	}
	// Whether the chain is as fast as before is for a machine to say that does nothing
	// else meanwhile.
	if recovered := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionRecovered); recovered == nil ||
		recovered.Reason == v1alpha1.ReasonValidatorsMissing || status.RecoveryMilliseconds == nil {
		t.Errorf("afterwards, it says %+v", recovered)
	}
	for _, validator := range status.Validators {
		if validator.Reached != reached {
			t.Errorf("says that %s is %s", validator.Name, validator.Reached)
		}
	}
	if len(status.Validators) != 2 || len(status.Windows) != 3 {
		t.Errorf("says %+v", status)
	}
}
