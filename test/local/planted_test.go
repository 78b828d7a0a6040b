// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/trace"
)

// plantedNode is the node program that can be told to get something wrong.
func plantedNode(t *testing.T) string {
	t.Helper()
	planted := os.Getenv("PLANTED")
	if planted == "" {
		t.Skip("PLANTED names no node: make planted-nodes builds one")
	}
	return planted
}

// A build that credits receipts twice, in the place of a producer, comes to other roots
// than the chain and makes no chunk that anybody endorses; in the place of a chunk
// validator, it endorses nothing. Both say so in their logs. Afterwards they go on with
// the state that they had.
//
//nolint:paralleltest // What the chain feels is compared with what it does when nothing else runs.
func TestPlantedFaults(t *testing.T) {
	planted := plantedNode(t)
	network := up(t, t.TempDir())
	network.says(t, "genesis hash ")
	observer := watch(t, network)
	observer.awaitTransfers(t)
	for _, test := range []struct {
		validators, words string
		felt              v1alpha1.FaultMeasure
	}{
		{"names: [small-s1-p0]", "this node executed to", v1alpha1.FaultMissedTurns},
		{"role: ChunkValidator", "chunk not endorsed", v1alpha1.FaultPartlyEndorsedChunks},
	} {
		t.Run(test.validators, func(t *testing.T) {
			fault := measureFault(t, network, test.validators,
				fmt.Sprintf("Byzantine\n  byzantine: {program: %s, arguments: [--planted-fault, CreditedTwice]}", planted), "20")
			checkByzantine(t, &fault.Status, test.felt)
			if name := fault.Status.Validators[0].Name; !strings.Contains(network.log(t, name), test.words) {
				t.Errorf("the log of %s does not say %q:\n%s", name, test.words, network.log(t, name))
			}
		})
	}
	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}

// checkByzantine checks what is said of a fault that the chain feels by this measure,
// and from which its validator comes back.
func checkByzantine(t *testing.T, status *v1alpha1.FaultStatus, felt v1alpha1.FaultMeasure) {
	t.Helper()
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionEffective) || !slices.Contains(status.Felt, felt) {
		t.Errorf("the chain feels %v, want %s: %+v", status.Felt, felt, status.Conditions)
	}
	if len(status.Validators) != 1 || status.Validators[0].Reached != v1alpha1.FaultImpaired {
		t.Errorf("says %+v", status.Validators)
	}
	if status.RecoveryMilliseconds == nil {
		t.Errorf("the validator is not back: %+v", status.Conditions)
	}
}

// The shard whose witnesses are late is named, and that it is their way that blocks
// wait for.
//
//nolint:paralleltest // With other networks on the machine, blocks wait for these.
func TestTracesNameALateWitness(t *testing.T) {
	report := reportOf(t, manifestOf(t, 2, "[{name: here, nodes: 4}]", ""), lateWitnesses(t, plantedNode(t)))
	witness, shard := most(report.Phases), most(report.Shards)
	if witness.Phase != trace.Witness || shard.Shard == nil || *shard.Shard != 1 {
		t.Fatalf("blocks wait for %+v, %+v", report.Phases, report.Shards)
	}
	t.Logf("%d blocks wait %.1f ms for %s, %.1f%% of the time, and %.1f ms for shard %d, %.1f%%", report.Blocks,
		witness.Milliseconds.P50, witness.Phase, witness.SharePercent, shard.Milliseconds.P50, *shard.Shard, shard.SharePercent)
}

// lateWitnesses is the node program of which the producers of shard 1 have their
// witnesses wait for 200 ms.
func lateWitnesses(t *testing.T, planted string) string {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "shardnode")
	if err := os.WriteFile(program, fmt.Appendf(nil, `#!/bin/sh
case "$*" in
*/slow-s1-*) exec %s --planted-witness-delay 200 "$@" ;;
esac
exec %s "$@"
`, planted, programs.shardnode), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return program
}
