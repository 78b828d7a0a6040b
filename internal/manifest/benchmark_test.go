// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/manifest"
)

const benchmark = `apiVersion: shardyard.dev/v1alpha1
kind: Benchmark
metadata:
  name: bench
spec:
  network:
    template:
      spec:
        shards: 2
        producersPerShard: 1
        regions:
          - name: here
            nodes: 2
        genesis:
          accountsPerShard: 10
  load:
    profile: Ramp
    ramp:
      steps:
        - transfersPerSecond: 100
          durationSeconds: 1
  durationSeconds: 30
`

func TestParseBenchmarkFillsInDefaults(t *testing.T) {
	t.Parallel()
	parsed, err := manifest.ParseBenchmark([]byte(benchmark))
	if err != nil {
		t.Fatal(err)
	}
	spec := parsed.Spec
	for name, isDefault := range map[string]bool{
		"warmUpSeconds":                      *spec.WarmUpSeconds == 10,
		"repetitions":                        spec.Repetitions == 1,
		"network.template.spec.genesis.seed": spec.Network.Template.Spec.Genesis.Seed == "shardyard",
		"metadata.namespace":                 parsed.Namespace == "default",
	} {
		if !isDefault {
			t.Errorf("%s has no default: %+v", name, spec)
		}
	}
}

func TestKindsAreNotTakenForEachOther(t *testing.T) {
	t.Parallel()
	if _, err := manifest.ParseBenchmark([]byte(network)); !refuses(err, "kind", "must be Benchmark") {
		t.Errorf("the error of a network is %v", err)
	}
	if _, err := manifest.Parse([]byte(benchmark)); !refuses(err, "kind", "must be ShardNetwork") {
		t.Errorf("the error of a benchmark is %v", err)
	}
	if _, err := manifest.ParseBenchmark([]byte(benchmark + "---\n" + benchmark)); err == nil ||
		err.Error() != "holds 2 documents, want one Benchmark and nothing else" {
		t.Errorf("the error of two benchmarks is %v", err)
	}
}

func refuses(err error, field, words string) bool {
	invalid, ok := errors.AsType[*manifest.InvalidError](err)
	return ok && len(invalid.Fields) == 1 && invalid.Fields[0].Field == field && strings.Contains(invalid.Fields[0].Detail, words)
}

// Every sample is what its file is called.
func TestBenchmarkSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../config/samples/benchmark/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	for _, file := range files {
		read, err := manifest.ReadBenchmark(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, want := read.Name, strings.TrimSuffix(filepath.Base(file), ".yaml"); got != want {
			t.Errorf("%s holds the benchmark %s", file, got)
		}
	}
	files, err = filepath.Glob("../../config/samples/benchmarkschedule/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	for _, file := range files {
		read, err := manifest.ReadBenchmarkSchedule(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, want := read.Name, strings.TrimSuffix(filepath.Base(file), ".yaml"); got != want {
			t.Errorf("%s holds the schedule %s", file, got)
		}
	}
	if _, err := manifest.ReadBenchmark("no/such/file.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v, want %v", err, os.ErrNotExist)
	}
}
