// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// newRuns are the records of two runs that last so long, of a network that makes as many
// blocks as it may, and the file that their judge reads their benchmark from.
func newRuns(t *testing.T, seconds int32) (benchmark *v1alpha1.Benchmark, folder, file string) {
	t.Helper()
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/before-after-local.yaml")
	if err != nil {
		t.Fatal(err)
	}
	benchmark.UID = "this-one"
	spec := &benchmark.Spec
	spec.Variants, spec.Baseline, spec.Criteria = nil, nil, nil
	spec.WarmUpSeconds, spec.DurationSeconds, spec.Repetitions = ptr.To[int32](0), seconds, 2
	content, err := json.Marshal(benchmark)
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	file = filepath.Join(t.TempDir(), "benchmark.json")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	made := newRun(spec)
	for _, run := range bench.Runs(spec) {
		made.Repetition = run.Repetition
		if err := recording.Write(folder, benchmark.UID, recording.NodeImage{}, made); err != nil {
			t.Fatal(err)
		}
	}
	return benchmark, folder, file
}

// newRun is a run whose samples tell all that they can.
func newRun(spec *v1alpha1.BenchmarkSpec) *result.Run {
	const first = 1_700_000_000_000
	endMs := int64(spec.DurationSeconds) * 1000
	made := &result.Run{Window: result.Window{BeginMs: first, EndMs: first + endMs}, Nodes: []result.Node{{Version: "0.1.0"}}}
	for at := int64(0); at <= endMs; at += int64(spec.Network.Template.Spec.Protocol.MinBlockTimeMilliseconds) {
		made.Blocks = append(made.Blocks, result.Block{
			Height: uint64(len(made.Blocks)), TimestampMs: first + at, Included: 12_345, Executed: 12_345, Failed: ptr.To[uint64](123),
			Credits: 12_345, Shards: 4,
		})
	}
	for at := int64(0); at <= endMs; at += 1000 {
		count, seconds := ptr.To(uint64(at)*12_345), ptr.To(float64(at)/0.987654321)
		made.Samples = append(made.Samples, result.Sample{
			TimeMs: first + at, FinalizedHeight: uint64(at), OfferedPerSecond: 12_345, Signed: count, Rejected: count, HeldBack: count,
			Overdue: count, Exhausted: count, Pool: count, CPUSeconds: seconds,
			CPUSecondsByRole: map[string]float64{"Producer": *seconds, "ChunkValidator": *seconds, "RPC": *seconds},
			Failures: &result.Failures{
				Failed:  map[string]uint64{"insufficient_balance": *count, "nonce": *count},
				Refused: map[string]uint64{"expired": *count, "full": *count},
			},
			MemoryBytes: count, FileMemoryBytes: count, DiskReadBytes: count, DiskWrittenBytes: count,
			HostBusySeconds: seconds, HostStolenSeconds: seconds, HostWorkMicroseconds: seconds,
			HostDiskFlushes: count, HostDiskFlushSeconds: seconds,
			Control: &result.Control{State: "Following", Error: *seconds, BlockTimeMs: *seconds, BacklogSeconds: *seconds, MissedShare: *seconds},
		})
	}
	return made
}

// taken is what a judge takes, and what memory there is for it, in bytes.
type taken struct {
	benchmark                 *v1alpha1.Benchmark
	memory, memoryAsked, disk int64
}

// judged is what the judge takes of two runs that last so long.
func judged(t *testing.T, seconds int32) taken {
	t.Helper()
	benchmark, folder, file := newRuns(t, seconds)
	pod := resources.NewJudge(benchmark, resources.RecorderInputs{})
	memory := pod.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory]
	program := exec.CommandContext(t.Context(), os.Args[0], "judge-runs", "--benchmark="+file, "--records="+folder,
		"--summary="+filepath.Join(t.TempDir(), "said"), "--artifact="+filepath.Join(folder, resources.ArtifactPath))
	// It collects garbage as it does in a container of what it asks for.
	said := filepath.Join(t.TempDir(), "status")
	program.Env = append(os.Environ(), asProgram+"="+said, fmt.Sprintf("GOMEMLIMIT=%d", int64(float64(memory.Value())*memoryShare)))
	if out, err := program.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made := taken{benchmark: benchmark, memory: peakMemory(t, said), memoryAsked: memory.Value()}
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			made.disk += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// peakMemory is the most memory that a process had resident, by what the kernel said of it.
func peakMemory(t *testing.T, file string) int64 {
	t.Helper()
	status, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kibibytes int64
	if _, err := fmt.Sscanf(after, "%d kB", &kibibytes); err != nil {
		t.Fatalf("%v: %s", err, status)
	}
	return kibibytes << 10
}

// claimed is the size of the disk of a benchmark's records.
func claimed(t *testing.T, benchmark *v1alpha1.Benchmark) int64 {
	t.Helper()
	objects, err := resources.BenchmarkObjects(benchmark, topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if claim, ok := object.(*corev1.PersistentVolumeClaim); ok {
			size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
			return size.Value()
		}
	}
	t.Fatal("a benchmark has no claim")
	return 0
}

// The judge of runs has as much more memory as it takes when they last longer, and the disk
// is large enough for what is kept of them.
func TestTheJudgeOfLongRuns(t *testing.T) {
	t.Parallel()
	const times = 50
	short, long := judged(t, 5), judged(t, 2*3600)
	memory, asked := long.memory-short.memory, long.memoryAsked-short.memoryAsked
	t.Logf("of four hours, the judge takes %d MiB more memory, and asks for %d more", memory>>20, asked>>20)
	if memory > asked {
		t.Errorf("of four hours, the judge takes %d bytes more memory, and asks for %d more", memory, asked)
	}
	many := long.benchmark.DeepCopy()
	many.Spec.Repetitions *= times
	kept, room := times*long.disk, claimed(t, many)
	t.Logf("of %d hours, %d MiB are kept, and the disk has %d", 4*times, kept>>20, room>>20)
	if kept > room {
		t.Errorf("of %d hours, %d bytes are kept, and the disk has %d", 4*times, kept, room)
	}
}
