// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
)

const fault = `apiVersion: shardyard.dev/v1alpha1
kind: Fault
metadata:
  name: fault
spec:
  networkName: net
  validators:
    shard: 0
  action: Pause
  durationSeconds: 5
`

func TestParseFaultFillsInDefaults(t *testing.T) {
	t.Parallel()
	read, err := manifest.ParseFault([]byte(fault))
	if err != nil {
		t.Fatal(err)
	}
	spec := &read.Spec
	if spec.Action != v1alpha1.FaultActionPause || *spec.Validators.Shard != 0 || spec.BaselineSeconds != 10 || spec.RecoverySeconds != 120 {
		t.Errorf("reads %+v", spec)
	}
}

func TestWrongFaultsAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		old, changed string
		field, words string
	}{
		"another kind":       {"kind: Fault", "kind: Benchmark", "kind", "must be Fault"},
		"nobody":             {"  validators:\n    shard: 0\n", "  validators: {}\n", "spec.validators", "at least 1 properties"},
		"no names":           {"shard: 0", "names: []", "spec.validators.names", "at least 1 items"},
		"names twice":        {"shard: 0", "names: [a, a]", "spec.validators.names[1]", ""},
		"no such shard":      {"shard: 0", "shard: -1", "spec.validators.shard", "greater than or equal to 0"},
		"no validators":      {"shard: 0", "count: 0", "spec.validators.count", "greater than or equal to 1"},
		"a shard of none":    {"shard: 0", "shard: 0\n    role: ChunkValidator", "spec.validators.shard", "they have no shard"},
		"a path":             {"networkName: net", "networkName: ../net", "spec.networkName", "should match"},
		"a moment":           {"durationSeconds: 5", "durationSeconds: 4", "spec.durationSeconds", "greater than or equal to 5"},
		"a day":              {"durationSeconds: 5", "durationSeconds: 3601", "spec.durationSeconds", "less than or equal to 3600"},
		"no baseline":        {"action:", "baselineSeconds: 4\n  action:", "spec.baselineSeconds", "greater than or equal to 5"},
		"no recovery":        {"action:", "recoverySeconds: 0\n  action:", "spec.recoverySeconds", "greater than or equal to 1"},
		"a kill without how": {"action: Pause", "action: Kill", "spec.kill", "is required when action is Kill"},
		"a pause with how": {
			"action: Pause", "action: Pause\n  kill: {restart: AtOnce}", "spec.kill", "must not be set otherwise",
		},
		"a pause of sides": {
			"action: Pause", "action: Pause\n  partition: {from: {shard: 1}}", "spec.partition", "must not be set unless action is Partition",
		},
		"a partition from nobody": {
			"action: Pause", "action: Partition\n  partition: {from: {}}", "spec.partition.from", "at least 1 properties",
		},
		"a delay without how long": {"action: Pause", "action: Delay", "spec.delay", "is required when action is Delay"},
		"a delay of nothing": {
			"action: Pause", "action: Delay\n  delay: {milliseconds: 0}", "spec.delay.milliseconds", "greater than or equal to 1",
		},
		"a delay of too much": {
			"action: Pause", "action: Delay\n  delay: {milliseconds: 301}", "spec.delay.milliseconds", "less than or equal to 300",
		},
		"a partition with a delay": {
			"action: Pause", "action: Partition\n  delay: {milliseconds: 1}", "spec.delay", "must not be set otherwise",
		},
		"a loss without how much": {"action: Pause", "action: Loss", "spec.loss", "is required when action is Loss"},
		"a loss of more than half": {
			"action: Pause", "action: Loss\n  loss: {basisPoints: 5001}", "spec.loss.basisPoints", "less than or equal to 5000",
		},
		"a delay with a loss, also": {
			"action: Pause", "action: Delay\n  delay: {milliseconds: 1}\n  loss: {basisPoints: 1}", "spec.loss", "must not be set otherwise",
		},
		"a slow disk without how slow": {"action: Pause", "action: SlowDisk", "spec.slowDisk", "is required when action is SlowDisk"},
		"a slow disk that is not": {
			"action: Pause", "action: SlowDisk\n  slowDisk: {milliseconds: 0}", "spec.slowDisk.milliseconds", "greater than or equal to 1",
		},
		"a disk that is too slow": {
			"action: Pause", "action: SlowDisk\n  slowDisk: {milliseconds: 1001}", "spec.slowDisk.milliseconds", "less than or equal to 1000",
		},
		"a disk that is full and slow": {
			"action: Pause", "action: FullDisk\n  slowDisk: {milliseconds: 1}", "spec.slowDisk", "must not be set otherwise",
		},
		"a wrong clock without how wrong": {
			"action: Pause", "action: WrongClock", "spec.wrongClock", "is required when action is WrongClock",
		},
		"a wrong clock that is right": {
			"action: Pause", "action: WrongClock\n  wrongClock: {offsetMilliseconds: 0}", "spec.wrongClock.offsetMilliseconds", "must not be 0",
		},
		"a clock that is too far behind": {
			"action: Pause", "action: WrongClock\n  wrongClock: {offsetMilliseconds: -60001}",
			"spec.wrongClock.offsetMilliseconds", "greater than or equal to -60000",
		},
		"a clock that is too far ahead": {
			"action: Pause", "action: WrongClock\n  wrongClock: {offsetMilliseconds: 60001}",
			"spec.wrongClock.offsetMilliseconds", "less than or equal to 60000",
		},
		"a pause of a wrong clock": {
			"action: Pause", "action: Pause\n  wrongClock: {offsetMilliseconds: 1}", "spec.wrongClock", "must not be set otherwise",
		},
		"a pause of a slow disk": {
			"action: Pause", "action: Pause\n  slowDisk: {milliseconds: 1}", "spec.slowDisk", "must not be set otherwise",
		},
		"a byzantine fault without a program": {
			"action: Pause", "action: Byzantine", "spec.byzantine", "is required when action is Byzantine",
		},
		"a byzantine fault of nothing": {
			"action: Pause", "action: Byzantine\n  byzantine: {program: ''}", "spec.byzantine.program", "at least 1 chars",
		},
		"a byzantine fault with no arguments": {
			"action: Pause", "action: Byzantine\n  byzantine: {program: a, arguments: []}", "spec.byzantine.arguments", "at least 1 items",
		},
		"a pause of another program": {
			"action: Pause", "action: Pause\n  byzantine: {program: a}", "spec.byzantine", "must not be set otherwise",
		},
		"a name of no object": {"name: fault", "name: 1st", "metadata", "must be a DNS label that begins with a letter"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := strings.Replace(fault, test.old, test.changed, 1)
			if content == fault {
				t.Fatal("nothing is changed")
			}
			if _, err := manifest.ParseFault([]byte(content)); !refuses(err, test.field, test.words) {
				t.Errorf("the error is %v, want one of %s: %s", err, test.field, test.words)
			}
		})
	}
	for _, unknown := range []string{"action: Bribe", "action: Pause\n  kill: {restart: Never}"} {
		if _, err := manifest.ParseFault([]byte(strings.Replace(fault, "action: Pause", unknown, 1))); err == nil ||
			!strings.Contains(err.Error(), "Unsupported value") {
			t.Errorf("the error of %s is %v", unknown, err)
		}
	}
}

// Every sample is what its file is called.
func TestFaultSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../config/samples/fault/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	for _, file := range files {
		read, err := manifest.ReadFault(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, want := read.Name, strings.TrimSuffix(filepath.Base(file), ".yaml"); got != want {
			t.Errorf("%s holds the fault %s", file, got)
		}
	}
}
