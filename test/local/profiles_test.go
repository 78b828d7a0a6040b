// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/waiting"
)

// Nodes that carry a load say what they do with their time, between two blocks and
// together, and log more when they are told to.
func TestProfiles(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := up(t, stateDir)
	network.says(t, "genesis hash ")
	observer := watch(t, network)
	observer.awaitTransfers(t)
	profileBlocks(t, stateDir)
	profileTogether(t, stateDir)
	profileAllocations(t, observer, stateDir)
	profileOfKilled(t, observer, stateDir)
	logMore(t, observer, stateDir)
	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}

// takeProfile has a profile taken, and returns what is said of it, and the profile.
func takeProfile(t *testing.T, stateDir string, args ...string) (said []string, taken *profile.Profile) {
	t.Helper()
	folder := t.TempDir()
	stdout, code := shardyard(t, append([]string{"profile", "--network", "small", "--state-dir", stateDir, "--folder", folder}, args...)...)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	first := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, folder) })
	if code != 0 || first < 1 || len(lines) < first+2 {
		t.Fatalf("profile %v exits with %d: %s", args, code, stdout)
	}
	content, err := os.ReadFile(lines[first])
	if err != nil {
		t.Fatal(err)
	}
	if taken, err = profile.Parse(bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	for _, page := range lines[first+1:] {
		if _, err := os.Stat(page); err != nil || !strings.HasSuffix(page, ".html") {
			t.Errorf("the page is %s (%v)", page, err)
		}
	}
	return lines[:first], taken
}

// profileBlocks checks that a profile of two blocks is of two blocks.
func profileBlocks(t *testing.T, stateDir string) {
	t.Helper()
	said, taken := takeProfile(t, stateDir, "--node", "small-s0-p0", "--blocks", "2")
	var node string
	var samples, frequency, first, last uint64
	line := strings.ReplaceAll(said[0], ":", " ")
	const form = "%s %d samples, %d per second of CPU time, from block %d to %d"
	if _, err := fmt.Sscanf(line, form, &node, &samples, &frequency, &first, &last); err != nil {
		t.Fatalf("says %q: %v", said, err)
	}
	// Blocks that become final at once are one step.
	if node != "small-s0-p0" || frequency != 250 || first == 0 || last < first+2 {
		t.Errorf("says %q", said)
	}
	want := []string{"network: small", "node: small-s0-p0", fmt.Sprint("first height: ", first), fmt.Sprint("last height: ", last)}
	if !slices.Equal(taken.Comments, want) {
		t.Errorf("comments are %q, want %q", taken.Comments, want)
	}
	total := int64(0)
	for _, sample := range taken.Sample {
		total += sample.Value[0]
	}
	if total != int64(samples) {
		t.Errorf("there are %d samples, and it says %q", total, said)
	}
}

// profileTogether checks that a profile of two nodes is of both, and names the
// functions of the node that execute.
func profileTogether(t *testing.T, stateDir string) {
	t.Helper()
	_, taken := takeProfile(t, stateDir, "--node", "small-s0-p0", "--node", "small-s1-p1", "--seconds", "10")
	nodes, executing := map[string]int64{}, int64(0)
	for _, sample := range taken.Sample {
		nodes[sample.Label["node"][0]] += sample.Value[0]
		if slices.ContainsFunc(sample.Location, executes) {
			executing += sample.Value[0]
		}
	}
	if len(nodes) != 2 || nodes["small-s0-p0"] == 0 || nodes["small-s1-p1"] == 0 {
		t.Errorf("samples are of %v", nodes)
	}
	t.Logf("samples of nodes are %v, %d of them execute", nodes, executing)
	if executing == 0 {
		t.Errorf("of %v samples, none is in a function that executes", nodes)
	}
}

// profileAllocations checks that a profile of what two nodes allocate names the functions
// of the node that execute and keep state, and that all together is what the nodes count.
func profileAllocations(t *testing.T, observer *observer, stateDir string) {
	t.Helper()
	names := []string{"small-s0-p0", "small-s1-p1"}
	before := allocated(t, observer, names)
	said, taken := takeProfile(t, stateDir, "--kind", "Allocations", "--node", names[0], "--node", names[1], "--seconds", "10")
	counted := allocated(t, observer, names) - before
	if len(said) != 2 || !strings.Contains(said[0], " samples, one in 512 KiB allocated, from block ") {
		t.Errorf("says %q", said)
	}
	if taken.DefaultSampleType != "alloc_space" || taken.SampleType[0].Type != "alloc_objects" || taken.SampleType[1].Type != "alloc_space" {
		t.Errorf("the sample types are %v", taken.SampleType)
	}
	nodes, all, executing := map[string]int64{}, int64(0), int64(0)
	for _, sample := range taken.Sample {
		nodes[sample.Label["node"][0]] += sample.Value[1]
		all += sample.Value[1]
		if slices.ContainsFunc(sample.Location, executes) {
			executing += sample.Value[1]
		}
	}
	t.Logf("nodes allocate %v bytes, %d of them where they execute, and count %.0f; %d stacks", nodes, executing, counted, len(taken.Sample))
	if len(nodes) != 2 || nodes[names[0]] == 0 || nodes[names[1]] == 0 {
		t.Errorf("samples are of %v", nodes)
	}
	if executing == 0 {
		t.Errorf("of %v bytes, none is allocated by a function that executes", nodes)
	}
	// They were counted for somewhat longer, and on a busy machine for much longer.
	if share := float64(all) / counted; share < 0.2 || share > 1.3 {
		t.Errorf("samples stand for %d bytes, and the nodes count %.0f", all, counted)
	}
}

// allocated are the bytes that nodes have allocated in all.
func allocated(t *testing.T, observer *observer, names []string) float64 {
	t.Helper()
	all := 0.0
	for i, validator := range observer.validators {
		if !slices.Contains(names, validator.Name) {
			continue
		}
		metrics, err := observer.clients[i].Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range metrics["shardnode_process_allocated_bytes_total"].GetMetric() {
			all += metric.GetCounter().GetValue() + metric.GetUntyped().GetValue()
		}
	}
	if all == 0 {
		t.Fatalf("nodes %q have allocated nothing", names)
	}
	return all
}

func executes(location *profile.Location) bool {
	return slices.ContainsFunc(location.Line, func(line profile.Line) bool {
		return strings.Contains(line.Function.Name, "shardnode_execution::") || strings.Contains(line.Function.Name, "shardnode_ledger::")
	})
}

// profileOfKilled checks that a node which dies while it takes a profile is not waited
// for, and takes part again.
func profileOfKilled(t *testing.T, observer *observer, stateDir string) {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	const name = "small-s1-p0"
	run := exec.CommandContext(t.Context(), programs.shardyard,
		"profile", "--state-dir", stateDir, "--folder", t.TempDir(), "--node", name, "--seconds", "60")
	var said output.Buffer
	run.Stdout, run.Stderr = &said, &said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	waiting.Until(t, name+" takes a profile", func() bool { return strings.Contains(logOf(t, stateDir, name), "taking a CPU profile") })
	for _, validator := range observer.network.validators(t) {
		if validator.Name == name {
			if err := syscall.Kill(validator.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := run.Wait(); err == nil || !strings.Contains(said.String(), "node "+name+" ") {
		t.Errorf("ends with %v, and says %s", err, &said)
	}
	t.Logf("says %s", &said)
	observer.eventually(t, name+" answers again", func(statuses []*chain.Status) bool { return !slices.Contains(statuses, nil) })
}

// logMore checks that a level takes without a restart, both ways.
func logMore(t *testing.T, observer *observer, stateDir string) {
	t.Helper()
	const name = "small-s0-p1"
	set := func(level string) {
		t.Helper()
		stdout, code := shardyard(t, "log", "--state-dir", stateDir, "--node", name, "--level", level)
		if code != 0 || stdout != name+": "+level+"\n" {
			t.Fatalf("log exits with %d: %s", code, stdout)
		}
	}
	if before := logOf(t, stateDir, name); strings.Contains(before, "DEBUG") {
		t.Fatalf("it logs at level debug: %s", before)
	}
	set("debug")
	waiting.Until(t, name+" logs at level debug", func() bool { return strings.Contains(logOf(t, stateDir, name), "DEBUG") })
	set("info")
	// What was on its way then may come after.
	observer.passes(t, 2)
	told := len(logOf(t, stateDir, name))
	observer.passes(t, 10)
	if after := logOf(t, stateDir, name)[told:]; strings.Contains(after, "DEBUG") {
		t.Errorf("after that it logs %s", after)
	}
}

// passes waits for blocks.
func (o *observer) passes(t *testing.T, blocks uint64) {
	t.Helper()
	var from uint64
	o.eventually(t, fmt.Sprint(blocks, " blocks pass"), func(statuses []*chain.Status) bool {
		status := statuses[0]
		if status == nil {
			return false
		}
		if from == 0 {
			from = status.FinalizedHeight
		}
		return status.FinalizedHeight >= from+blocks
	})
}

func logOf(t *testing.T, stateDir, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(stateDir, "small", "nodes", name, "node.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
