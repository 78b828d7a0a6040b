// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shardyard/shardyard/internal/trace"
)

// manifestOf is a network that only what is slow about it slows down.
func manifestOf(t *testing.T, shards int, regions, links string) string {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "network.yaml")
	if err := os.WriteFile(manifest, fmt.Appendf(nil, `
apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata: {name: slow}
spec:
  shards: %d
  producersPerShard: 2
  regions: %s%s
  genesis: {accountsPerShard: 1000}
  protocol: {minBlockTimeMilliseconds: 100, mandatesPerShard: 64}
  placement: {exclusivity: Shared, regionAffinity: None}
  load: {profile: Constant, constant: {transfersPerSecond: 200}}
`, shards, regions, links), 0o600); err != nil {
		t.Fatal(err)
	}
	return manifest
}

// reportOf is what the blocks of a run waited for, by their traces alone, but for the
// first ones: these wait for the nodes to start.
func reportOf(t *testing.T, manifest, shardnode string) *trace.Report {
	t.Helper()
	stateDir := t.TempDir()
	if output, code := shardyard(t, "up", "-f", manifest, "--state-dir", stateDir, "--shardnode", shardnode,
		"--page", "off", "--trace-basis-points", "10000", "--for", "12s", "-o", "json"); code != 0 {
		t.Fatalf("shardyard up exits with %d:\n%s", code, output)
	}
	output, code := shardyard(t, "trace", "critical-path", "--network", "slow", "--state-dir", stateDir, "--from", "12", "-o", "json")
	var report trace.Report
	if err := json.Unmarshal([]byte(output), &report); err != nil || code != 0 {
		t.Fatalf("trace critical-path exits with %d: %v\n%s", code, err, output)
	}
	if report.Blocks < 5 || len(report.Nodes) < 2 {
		t.Fatalf("there are %d blocks, of %d nodes", report.Blocks, len(report.Nodes))
	}
	return &report
}

// A region that is far from the others is named, and that it is the network. With
// two of the six validators, no quorum is without one of it.
//
//nolint:paralleltest // With other networks on the machine, blocks wait for these.
func TestTracesNameASlowRegion(t *testing.T) {
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	report := reportOf(t, manifestOf(t, 3, "[{name: north, nodes: 2}, {name: south, nodes: 2}, {name: west, nodes: 2}]", `
  links:
    - {between: [north, west], delayMilliseconds: 80}
    - {between: [south, west], delayMilliseconds: 80}`), programs.shardnode)
	// By what half of the blocks wait for: once, a leader may be late for seconds. Votes
	// are on their way within a span of consensus.
	phases := slices.DeleteFunc(slices.Clone(report.Phases), func(row trace.Row) bool { return row.Phase == trace.Consensus })
	if phase := most(phases).Phase; phase != trace.Network {
		t.Errorf("blocks wait for %s: %+v", phase, report.Phases)
	}
	if region := most(report.Regions).Region; region != "west" {
		t.Errorf("blocks wait for %s: %+v", region, report.Regions)
	}
}

// most is what half of the blocks wait for the longest.
func most(rows []trace.Row) trace.Row {
	return slices.MaxFunc(rows, func(a, b trace.Row) int { return cmp.Compare(a.Milliseconds.P50, b.Milliseconds.P50) })
}

// A validator whose disk takes long is named, and that of what it does it is making
// things durable. Gaps between that are longer: consensus makes its votes durable as
// well, which no span says.
//
//nolint:paralleltest // With other networks on the machine, blocks wait for these.
func TestTracesNameASlowDisk(t *testing.T) {
	const slow = "slow-s1-p0"
	report := reportOf(t, manifestOf(t, 2, "[{name: here, nodes: 4}]", ""), slowDisk(t, slow))
	if report.Nodes[0].Node != slow {
		t.Errorf("blocks wait for %+v", report.Nodes)
	}
	waited := map[trace.Phase]float64{}
	for _, place := range report.Places {
		if place.Node == slow {
			waited[place.Phase] += place.SharePercent
		}
	}
	gaps := []trace.Phase{trace.Queue, trace.Network, trace.Turn}
	for phase, share := range waited {
		if !slices.Contains(gaps, phase) && share > waited[trace.Persistence] {
			t.Errorf("of %s, blocks wait for %s more than for persistence: %v", slow, phase, waited)
		}
	}
}

// slowDisk is the node program which, for one validator, takes long to make
// anything durable.
func slowDisk(t *testing.T, validator string) string {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	library, program := filepath.Join(dir, "slowdisk.so"), filepath.Join(dir, "shardnode")
	build := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-o", library, "testdata/slowdisk.c", "-ldl")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if err := os.WriteFile(program, fmt.Appendf(nil, `#!/bin/sh
case "$*" in
*%s*) LD_PRELOAD=%s && export LD_PRELOAD ;;
esac
exec %s "$@"
`, validator, library, programs.shardnode), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}
