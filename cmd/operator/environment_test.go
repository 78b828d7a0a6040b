// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/version"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	machines := func(kernel string) result.Machines {
		return result.Machines{Count: 2, OS: "linux", Architecture: "arm64", Kernel: kernel, CPUs: 16}
	}
	for name, test := range map[string]struct {
		runs []result.Run
		want result.Environment
	}{
		"nothing is known": {[]result.Run{{}, {}}, result.Environment{OS: runtime.GOOS, Architecture: runtime.GOARCH}},
		"all alike": {
			[]result.Run{{Machines: []result.Machines{machines("6.1")}}, {Machines: []result.Machines{machines("6.1")}}},
			result.Environment{OS: "linux", Architecture: "arm64", Kernel: "6.1"},
		},
		"another kernel": {
			[]result.Run{{Machines: []result.Machines{machines("6.1")}}, {Machines: []result.Machines{machines("6.1"), machines("6.6")}}},
			result.Environment{OS: "linux", Architecture: "arm64"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := environment(test.runs); got != test.want {
				t.Errorf("the environment is %+v, want %+v", got, test.want)
			}
		})
	}
}

// A result says what made it, and what it ran on.
func TestProvenance(t *testing.T) {
	t.Parallel()
	benchmark, _ := benchmarkFile(t)
	folder := t.TempDir()
	options := &recordOptions{machines: `[{"count":3,"type":"c4","kernel":"6.1"}]`}
	machines, err := options.readMachines()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range bench.Runs(&benchmark.Spec) {
		made := recorded(run, 0.5)
		made.Machines = machines
		if err := recording.Write(folder, benchmark.UID, recording.NodeImage{}, made); err != nil {
			t.Fatal(err)
		}
	}
	made, err := judge(t.Context(), benchmark, folder, "", baseline{})
	if err != nil {
		t.Fatal(err)
	}
	if operator := version.Get(); made.Shardyard.Version != operator.Version || made.Commit != operator.Commit {
		t.Errorf("the result is of %+v and the commit %q, want those of %s", made.Shardyard, made.Commit, operator)
	}
	if want := []result.Machines{{Count: 3, Type: "c4", Kernel: "6.1"}}; !reflect.DeepEqual(made.Runs[0].Machines, want) {
		t.Errorf("the machines are %+v, want %+v", made.Runs[0].Machines, want)
	}
	if made.Environment.Kernel != "6.1" {
		t.Errorf("the environment is %+v", made.Environment)
	}
	options.machines = "{"
	if _, err := options.readMachines(); err == nil {
		t.Error("machines that are no JSON are read")
	}
}
