// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	"github.com/shardyard/shardyard/internal/resources"
)

// newNamedCase has the first of two runs in a phase, of a network that is named and
// carries the load of the run.
func newNamedCase(phase v1alpha1.BenchmarkRunPhase) *benchmarkCase {
	c := newBenchmarkCase(phase)
	c.Benchmark.UID = "benchmark"
	c.Benchmark.Spec.Network.Name = "running"
	c.Network.Name, c.Network.OwnerReferences = "running", nil
	c.Network.Labels = resources.NewClaim(c.Benchmark, 1, c.Network).GetLabels()
	c.status.Runs[0].NetworkUID, c.status.Runs[0].NetworkGeneration = "network", 1
	return c
}

func TestStepsOfARunOfANamedNetwork(t *testing.T) {
	t.Parallel()
	unclaim := func(c *benchmarkCase) { c.Network.Labels = nil }
	cases := map[string]struct {
		phase v1alpha1.BenchmarkRunPhase
		given func(c *benchmarkCase)
		task  benchmarkpolicy.Task
		want  v1alpha1.BenchmarkRunPhase
	}{
		"a network with its own load": {v1alpha1.RunPreparing, unclaim, benchmarkpolicy.TaskMakeNetwork, v1alpha1.RunPreparing},
		"the claim of an earlier run": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Network.Labels[resources.LabelRun] = "7" },
			benchmarkpolicy.TaskMakeNetwork, v1alpha1.RunPreparing,
		},
		"a network that still has its own load": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Network.Status.Load = &v1alpha1.LoadStatus{} },
			benchmarkpolicy.TaskWait, v1alpha1.RunPreparing,
		},
		"a network that was overloaded by an earlier run": {
			v1alpha1.RunPreparing,
			func(c *benchmarkCase) {
				c.networkCondition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDegraded)
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunPreparing,
		},
		"a network of which a drain waits": {
			v1alpha1.RunPreparing,
			func(c *benchmarkCase) {
				c.networkCondition(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunPreparing,
		},
		"a drain that waits while it is measured": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.networkCondition(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"a network at rest": {v1alpha1.RunPreparing, func(*benchmarkCase) {}, benchmarkpolicy.TaskWait, v1alpha1.RunRecording},
		"a recorder that runs": {
			// It begins the load by itself, whatever the profile.
			v1alpha1.RunRecording, func(*benchmarkCase) {}, benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"a recorder that goes before another run": {
			v1alpha1.RunRemoving, func(c *benchmarkCase) { c.Recorder.Status.Phase = corev1.PodSucceeded },
			benchmarkpolicy.TaskRemove, v1alpha1.RunRemoving,
		},
		"a network before another run": {
			v1alpha1.RunRemoving, func(c *benchmarkCase) { c.Recorder = nil }, benchmarkpolicy.TaskWait, v1alpha1.RunRecorded,
		},
		"a network after the last run": {
			v1alpha1.RunRemoving, func(c *benchmarkCase) { c.Recorder, c.Runs = nil, c.Runs[:1] },
			benchmarkpolicy.TaskRemove, v1alpha1.RunRemoving,
		},
		"a network that is released": {
			v1alpha1.RunRemoving,
			func(c *benchmarkCase) {
				c.Recorder, c.Runs = nil, c.Runs[:1]
				unclaim(c)
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunRecorded,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newNamedCase(test.phase)
			test.given(c)
			task := benchmarkpolicy.Advance(c.Observation, c.status)
			if run := c.status.Runs[0]; task != test.task || run.Phase != test.want || run.Fault != "" {
				t.Errorf("there is %s to do, and the run is %s (%s), want %s and %s", task, run.Phase, run.Fault, test.task, test.want)
			}
		})
	}
}

func TestWhatBreaksARunOfANamedNetwork(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		phase v1alpha1.BenchmarkRunPhase
		given func(c *benchmarkCase)
		want  string
	}{
		"it changed since the first run": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Network.Generation = 2 }, "somebody changed the spec of its network",
		},
		"it is another": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Network.UID = "other" },
			"its network was deleted, and there is another of its name",
		},
		"another benchmark took it between two runs": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Claimant = "other" },
			"somebody else uses its network: it carries the load of the Benchmark other",
		},
		"it has a fault": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Faults = []string{"kill"} },
			"somebody else uses its network: it has the Fault kill",
		},
		"it does not become ready again": {
			v1alpha1.RunPreparing,
			func(c *benchmarkCase) {
				started := metav1.NewTime(now.Add(-31 * time.Minute))
				c.status.Runs[0].StartTime = &started
				c.networkCondition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDegraded)
			},
			"its network was not ready within 30m0s: it is not ready: Degraded: words",
		},
		"a drain that does not end": {
			v1alpha1.RunPreparing,
			func(c *benchmarkCase) {
				started := metav1.NewTime(now.Add(-31 * time.Minute))
				c.status.Runs[0].StartTime = &started
				c.networkCondition(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
			},
			"its network was not ready within 30m0s: its machines are drained: words",
		},
		"a drain that evicts somebody": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.networkCondition(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDraining)
			},
			"machines of its network are drained: words",
		},
		"its spec changes": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Network.Generation = 2 }, "somebody changed the spec of its network",
		},
		"its labels go": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Network.Labels = nil },
			"somebody gave its network another load: its labels no longer say that it carries that of the run",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newNamedCase(test.phase)
			test.given(c)
			task := benchmarkpolicy.Advance(c.Observation, c.status)
			if run := &c.status.Runs[0]; task != benchmarkpolicy.TaskWait || run.Phase != v1alpha1.RunRemoving || run.Fault != test.want {
				t.Errorf("there is %s to do, and the run is %s: %q, want %q", task, run.Phase, run.Fault, test.want)
			}
		})
	}
}

// What a network is that cannot be measured, before the first run.
func TestNamedNetworksThatAreUnfit(t *testing.T) {
	t.Parallel()
	for want, given := range map[string]func(c *benchmarkCase){
		"there is no ShardNetwork running":    func(c *benchmarkCase) { c.Network = nil },
		"is being deleted":                    func(c *benchmarkCase) { c.Network.DeletionTimestamp = &metav1.Time{Time: now} },
		"it has the Fault cut, kill":          func(c *benchmarkCase) { c.Faults = []string{"cut", "kill"} },
		"carries the load of the Benchmark b": func(c *benchmarkCase) { c.Claimant = "b" },
		"its nodes are replaced by others":    func(c *benchmarkCase) { c.Network.Status.Update = &v1alpha1.UpdateStatus{} },
		"its nodes do not run what its spec says yet: AwaitingHeight: words": func(c *benchmarkCase) {
			c.networkCondition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonAwaitingHeight)
		},
		"its machines are drained: words": func(c *benchmarkCase) {
			c.networkCondition(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
		},
		"it has not taken up its spec yet": func(c *benchmarkCase) { c.Network.Generation = 2 },
		"nothing is said of it yet":        func(c *benchmarkCase) { c.Network.Status.Conditions = nil },
		"region south of the ShardNetwork run": func(c *benchmarkCase) {
			c.Network.Spec.Regions = []v1alpha1.Region{{Name: "south", Cluster: "b"}}
		},
		"running cannot carry the load: it is too much": func(c *benchmarkCase) { c.Misfit = "it is too much" },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			c := newNamedCase(v1alpha1.RunPreparing)
			c.status.Runs = nil
			given(c)
			task := benchmarkpolicy.Advance(c.Observation, c.status)
			refused := c.status.Phase == v1alpha1.BenchmarkFailed && len(c.status.Runs) == 0
			if task != benchmarkpolicy.TaskWait || !refused || !strings.Contains(c.words(), want) {
				t.Errorf("there is %s to do, and the benchmark is %s: %s", task, c.status.Phase, c.words())
			}
		})
	}
}

// Whose load a network carries follows from the benchmark, and not from labels alone.
func TestLoadClaimed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		given func(c *benchmarkCase)
		want  bool
	}{
		"a benchmark that is under way": {func(*benchmarkCase) {}, true},
		"none":                          {func(c *benchmarkCase) { c.Benchmark = nil }, false},
		"another of its name":           {func(c *benchmarkCase) { c.Benchmark.UID = "other" }, false},
		"one that names another":        {func(c *benchmarkCase) { c.Benchmark.Spec.Network.Name = "other" }, false},
		"one that has ended":            {func(c *benchmarkCase) { c.Benchmark.Status.Phase = v1alpha1.BenchmarkFailed }, false},
		"one that goes":                 {func(c *benchmarkCase) { c.Benchmark.DeletionTimestamp = &metav1.Time{Time: now} }, false},
		"without its labels":            {func(c *benchmarkCase) { delete(c.Network.Labels, resources.LabelLoad) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newNamedCase(v1alpha1.RunRecording)
			test.given(c)
			if got := benchmarkpolicy.LoadClaimed(c.Network, c.Benchmark); got != test.want {
				t.Errorf("the network carries its load: %v, want %v", got, test.want)
			}
		})
	}
}
