// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/api/v1alpha1"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	"github.com/shardyard/shardyard/internal/resources"
)

// now is when the benchmarks of these tests are looked at.
var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// benchmarkCase is a benchmark of two runs, of which the first is under way.
type benchmarkCase struct {
	*benchmarkpolicy.Observation
	status *v1alpha1.BenchmarkStatus
}

// newBenchmarkCase has the first run in a phase, with all that belongs to it.
func newBenchmarkCase(phase v1alpha1.BenchmarkRunPhase) *benchmarkCase {
	benchmark := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: "bench", Generation: 1}}
	c := &benchmarkCase{
		Observation: &benchmarkpolicy.Observation{
			Benchmark: benchmark, Now: now,
			Runs: []v1alpha1.BenchmarkRunStatus{{Number: 1, Repetition: 1}, {Number: 2, Repetition: 2}},
		},
		status: &v1alpha1.BenchmarkStatus{},
	}
	run := c.Runs[0]
	run.Phase = phase
	started := metav1.NewTime(now.Add(-time.Minute))
	run.StartTime = &started
	c.Network = resources.NewRunNetwork(benchmark, 1, v1alpha1.ShardNetworkSpec{})
	c.Network.UID, c.Network.Generation = "network", 1
	c.networkCondition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	if phase != v1alpha1.RunPreparing {
		run.NetworkUID, run.RecorderUID = "network", "recorder"
		c.Recorder = newPod("recorder", corev1.PodRunning)
	}
	c.status.Runs = append(c.status.Runs, run)
	return c
}

func newPod(uid types.UID, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: uid, CreationTimestamp: metav1.NewTime(now.Add(-time.Second))},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func (c *benchmarkCase) networkCondition(kind string, status metav1.ConditionStatus, reason string) {
	meta.SetStatusCondition(&c.Network.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: "words", ObservedGeneration: 1,
	})
}

// drains has nodes of the network be evicted since a time.
func (c *benchmarkCase) drains(since time.Time) {
	c.Network.Status.Conditions = append(c.Network.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionMachinesKept, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDraining,
		Message: "words", LastTransitionTime: metav1.NewTime(since),
	})
}

// loader gives the recorder a loader beside it, with a status.
func (c *benchmarkCase) loader(status corev1.ContainerStatus) {
	c.Benchmark.Spec.Load.OpenLoop = &v1alpha1.OpenLoopLoad{}
	status.Name = resources.ContainerLoader
	c.Recorder.Status.InitContainerStatuses = []corev1.ContainerStatus{status}
}

func (c *benchmarkCase) words() string {
	return meta.FindStatusCondition(c.status.Conditions, v1alpha1.ConditionReady).Message
}

// Each step of a run, and what there is to do.
func TestStepsOfARun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		phase v1alpha1.BenchmarkRunPhase
		given func(c *benchmarkCase)
		task  benchmarkpolicy.Task
		want  v1alpha1.BenchmarkRunPhase
	}{
		"no network yet": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Network = nil }, benchmarkpolicy.TaskMakeNetwork, v1alpha1.RunPreparing,
		},
		"the network of an earlier run": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Network.Labels[resources.LabelRun] = "7" },
			benchmarkpolicy.TaskRemove, v1alpha1.RunPreparing,
		},
		"a network that is not ready": {
			v1alpha1.RunPreparing,
			func(c *benchmarkCase) {
				c.networkCondition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStarting)
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunPreparing,
		},
		"a network that was ready as it was before": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Network.Generation = 2 }, benchmarkpolicy.TaskWait, v1alpha1.RunPreparing,
		},
		"a network that is ready": {
			v1alpha1.RunPreparing, func(*benchmarkCase) {}, benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"no recorder yet": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) { c.status.Runs[0].RecorderUID, c.Recorder = "", nil },
			benchmarkpolicy.TaskMakeRecorder, v1alpha1.RunRecording,
		},
		"a recorder that is not noted": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.status.Runs[0].RecorderUID = "" },
			benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"a recorder that starts": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Recorder.Status.Phase = corev1.PodPending },
			benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"a recorder that runs": {
			v1alpha1.RunRecording, func(*benchmarkCase) {}, benchmarkpolicy.TaskBeginLoad, v1alpha1.RunRecording,
		},
		"a network that carries its load": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Network.Spec.Load = &v1alpha1.LoadSpec{} },
			benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"a recorder that steers the load": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Benchmark.Spec.Load.ClosedLoop = &v1alpha1.ClosedLoopLoad{} },
			benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"a recorder that has users send the load": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Benchmark.Spec.Load.OpenLoop = &v1alpha1.OpenLoopLoad{} },
			benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"a loader that starts": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase = corev1.PodPending
				c.loader(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}})
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunRecording,
		},
		"a loader that ended after its recorder": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase, c.Recorded = corev1.PodSucceeded, &benchmarkpolicy.Recorded{}
				c.loader(corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 143}}})
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunRemoving,
		},
		"a recorder that has ended": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase, c.Recorded = corev1.PodSucceeded, &benchmarkpolicy.Recorded{}
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunRemoving,
		},
		"a network that is ready and is drained": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.drains(now) }, benchmarkpolicy.TaskWait, v1alpha1.RunPreparing,
		},
		"a recorder that had ended before its network was drained": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase = corev1.PodSucceeded
				c.Recorded = &benchmarkpolicy.Recorded{To: metav1.NewMicroTime(now.Add(-time.Minute))}
				c.drains(now)
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunRemoving,
		},
		"a recorder that had ended before its network went": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase, c.Recorded, c.Network = corev1.PodSucceeded, &benchmarkpolicy.Recorded{}, nil
			},
			benchmarkpolicy.TaskWait, v1alpha1.RunRemoving,
		},
		"a network that goes": {
			v1alpha1.RunRemoving, func(c *benchmarkCase) { c.Recorder = nil }, benchmarkpolicy.TaskRemove, v1alpha1.RunRemoving,
		},
		"a recorder that goes": {
			v1alpha1.RunRemoving, func(c *benchmarkCase) { c.Network = nil }, benchmarkpolicy.TaskRemove, v1alpha1.RunRemoving,
		},
		"nothing left": {
			v1alpha1.RunRemoving, func(c *benchmarkCase) { c.Network, c.Recorder = nil, nil }, benchmarkpolicy.TaskWait, v1alpha1.RunRecorded,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newBenchmarkCase(test.phase)
			test.given(c)
			task := benchmarkpolicy.Advance(c.Observation, c.status)
			if run := c.status.Runs[0]; task != test.task || run.Phase != test.want || run.Fault != "" {
				t.Errorf("there is %s to do, and the run is %s (%s), want %s and %s", task, run.Phase, run.Fault, test.task, test.want)
			}
			if c.status.Phase != v1alpha1.BenchmarkRunning || len(c.status.Runs) != 1 {
				t.Errorf("the benchmark is %s, with the runs %+v", c.status.Phase, c.status.Runs)
			}
		})
	}
}

// What breaks a run is noted before anything is removed.
func TestWhatBreaksARun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		phase v1alpha1.BenchmarkRunPhase
		given func(c *benchmarkCase)
		want  string
	}{
		"the network goes before it was ready": {
			v1alpha1.RunPreparing, func(c *benchmarkCase) { c.Network.DeletionTimestamp = &metav1.Time{Time: now} },
			"somebody deletes its network",
		},
		"the network goes": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Network.DeletionTimestamp = &metav1.Time{Time: now} },
			"somebody deletes its network",
		},
		"the network is another": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Network.UID = "other" },
			"its network was deleted, and there is another of its name",
		},
		"a node crashes": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.networkCondition(v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonCrashing)
			},
			"its network lost nodes: Crashing: words",
		},
		"it costs too much": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.networkCondition(v1alpha1.ConditionWithinBudget, metav1.ConditionFalse, v1alpha1.ReasonBudgetExceeded)
			},
			"its network is not within its budget: BudgetExceeded: words",
		},
		"its network is drained": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.drains(now) }, "machines of its network are drained: words",
		},
		"its network was drained before the recorder ended": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase = corev1.PodSucceeded
				c.Recorded = &benchmarkpolicy.Recorded{To: metav1.NewMicroTime(now)}
				c.drains(now.Add(-time.Minute))
			},
			"machines of its network are drained: words",
		},
		"the recorder is another": {
			v1alpha1.RunRecording, func(c *benchmarkCase) { c.Recorder.UID = "other" },
			"the pod of its recorder was deleted",
		},
		"the recorder is another, and has ended": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.UID, c.Recorder.Status.Phase, c.Recorded = "other", corev1.PodSucceeded, &benchmarkpolicy.Recorded{}
			},
			"the pod of its recorder was deleted",
		},
		"no machine takes the recorder": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase = corev1.PodPending
				c.Recorder.CreationTimestamp = metav1.NewTime(now.Add(-11 * time.Minute))
				c.Recorder.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available.",
				}}
			},
			"its recorder did not start within 10m0s: no machine takes it: 0/3 nodes are available",
		},
		"no machine pulls the image of the loader": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase = corev1.PodPending
				c.Recorder.CreationTimestamp = metav1.NewTime(now.Add(-11 * time.Minute))
				c.Recorder.Status.ContainerStatuses = []corev1.ContainerStatus{{
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}},
				}}
				c.loader(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
					Reason: "ImagePullBackOff", Message: "no such image",
				}}})
			},
			"its recorder did not start within 10m0s: ImagePullBackOff: no such image",
		},
		"the loader ends": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.loader(corev1.ContainerStatus{RestartCount: 1, LastTerminationState: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", Message: "7 s: offered 70\n"},
				}})
			},
			"its loader ended in the middle: exit code 137, OOMKilled: 7 s: offered 70",
		},
		"the loader was started again, and nobody says why": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) { c.loader(corev1.ContainerStatus{RestartCount: 1}) },
			"its loader ended in the middle: it was started again",
		},
		"the recorder fails, and its loader is killed after it": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase = corev1.PodFailed
				c.Recorder.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "no user could send"},
				}}}
				c.loader(corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}})
			},
			"its recorder ended: it ended with exit code 1: no user could send",
		},
		"the loader is given no program": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status.Phase = corev1.PodFailed
				c.Recorder.Status.ContainerStatuses = []corev1.ContainerStatus{{
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}},
				}}
				c.Recorder.Status.InitContainerStatuses = []corev1.ContainerStatus{{
					Name: "tools", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
						ExitCode: 1, Message: "no space left on device",
					}},
				}}
			},
			"its recorder ended: it ended with exit code 1: no space left on device",
		},
		"the name of its image means two": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.status.Runs[0].RecorderUID, c.Recorder = "", nil
				c.NodeImageIDs = []string{"shardnode@sha256:1", "shardnode@sha256:2"}
			},
			"the name of its node image means several: its nodes run shardnode@sha256:1 and shardnode@sha256:2",
		},
		"its machine takes the recorder away": {
			v1alpha1.RunRecording,
			func(c *benchmarkCase) {
				c.Recorder.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"}
			},
			"its recorder ended: Evicted: low on memory",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newBenchmarkCase(test.phase)
			test.given(c)
			task := benchmarkpolicy.Advance(c.Observation, c.status)
			run := &c.status.Runs[0]
			if task != benchmarkpolicy.TaskWait || run.Phase != v1alpha1.RunRemoving || run.Fault != test.want {
				t.Errorf("there is %s to do, and the run is %s: %q, want %q", task, run.Phase, run.Fault, test.want)
			}
			if !strings.Contains(c.words(), "run 1 does not count") {
				t.Errorf("it is told that %q", c.words())
			}
			// What is left of it is removed, and no other run is made.
			c.Network = nil
			if c.Recorder != nil {
				c.Recorder.Status.Phase = corev1.PodFailed
			}
			for range 3 {
				task = benchmarkpolicy.Advance(c.Observation, c.status)
			}
			if task != benchmarkpolicy.TaskWait || c.status.Phase != v1alpha1.BenchmarkFailed || len(c.status.Runs) != 1 ||
				c.status.Runs[0].Phase != v1alpha1.RunBroken {
				t.Errorf("there is %s to do, and the benchmark is %s with %+v", task, c.status.Phase, c.status.Runs)
			}
		})
	}
}

// The result is made once all runs are recorded.
func TestJudging(t *testing.T) {
	t.Parallel()
	recorded := func(runs int) *benchmarkCase {
		c := newBenchmarkCase(v1alpha1.RunRecorded)
		c.Network, c.Recorder = nil, nil
		c.status.Runs = nil
		for _, run := range c.Runs[:runs] {
			run.Phase = v1alpha1.RunRecorded
			c.status.Runs = append(c.status.Runs, run)
		}
		return c
	}
	c := recorded(1)
	if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskWait || len(c.status.Runs) != 2 {
		t.Errorf("there is %s to do, with the runs %+v, want a second one", task, c.status.Runs)
	}
	c = recorded(2)
	if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskMakeJudge ||
		c.status.Phase != v1alpha1.BenchmarkJudging {
		t.Errorf("there is %s to do, and the benchmark is %s", task, c.status.Phase)
	}
	for words, given := range map[string]func(){
		"did not say what it came to": func() { c.Judge = newPod("judge", corev1.PodSucceeded) },
		"its pod is Failed":           func() { c.Judge = newPod("judge", corev1.PodFailed) },
		"did not end within 1h0m0s: its pod is Running": func() {
			c.Judge = newPod("judge", corev1.PodRunning)
			c.Judge.Status.ContainerStatuses = []corev1.ContainerStatus{runsSince(61 * time.Minute)}
		},
	} {
		c = recorded(2)
		given()
		benchmarkpolicy.Advance(c.Observation, c.status)
		if c.status.Phase != v1alpha1.BenchmarkFailed || !strings.Contains(c.words(), words) {
			t.Errorf("the benchmark is %s: %s, want %q", c.status.Phase, c.words(), words)
		}
	}
	for phase, container := range map[corev1.PodPhase][]corev1.ContainerStatus{
		corev1.PodPending: nil, corev1.PodRunning: {runsSince(time.Hour)},
	} {
		// For a machine, it may wait.
		c = recorded(2)
		c.Judge = newPod("judge", phase)
		c.Judge.CreationTimestamp, c.Judge.Status.ContainerStatuses = *ago(24 * time.Hour), container
		benchmarkpolicy.Advance(c.Observation, c.status)
		if want := "all runs are recorded, and the result is made: its pod is " + string(phase); c.status.EndTime != nil || c.words() != want {
			t.Errorf("the benchmark is %s: %s, want %s", c.status.Phase, c.words(), want)
		}
	}
	c = recorded(2)
	c.Judge, c.Judged = newPod("judge", corev1.PodSucceeded), &benchmarkpolicy.Judged{Phase: v1alpha1.BenchmarkSucceeded}
	benchmarkpolicy.Advance(c.Observation, c.status)
	if c.status.Phase != v1alpha1.BenchmarkSucceeded || c.status.Artifact == nil || c.status.EndTime == nil {
		t.Errorf("the status is %+v", c.status)
	}
}

// A pod that made a result, and went before anybody saw what it said, is made again, whenever
// that is: what it makes it of is there.
func TestAJudgeThatNobodySaw(t *testing.T) {
	t.Parallel()
	c := judged(v1alpha1.BenchmarkSucceeded)
	judge, said := c.Judge, c.Judged
	c.Judge, c.Judged = nil, nil
	c.Now = now.Add(24 * time.Hour)
	if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskMakeJudge || c.status.EndTime != nil {
		t.Fatalf("there is %s to do, and the benchmark is %s: %s", task, c.status.Phase, c.words())
	}
	c.Benchmark.Spec.Upload, c.Judge, c.Judged = nil, judge, said
	benchmarkpolicy.Advance(c.Observation, c.status)
	if c.status.Phase != v1alpha1.BenchmarkSucceeded {
		t.Errorf("the benchmark is %s: %s", c.status.Phase, c.words())
	}
}

// runsSince is the container of a pod that began to run so long before the present time.
func runsSince(before time.Duration) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *ago(before)}}}
}

// ago is a time before the present one.
func ago(duration time.Duration) *metav1.Time {
	return &metav1.Time{Time: now.Add(-duration)}
}

// judged is a benchmark whose result is made, and is to be uploaded.
func judged(phase v1alpha1.BenchmarkPhase) *benchmarkCase {
	c := newBenchmarkCase(v1alpha1.RunRecorded)
	c.Network, c.Recorder, c.status.Runs = nil, nil, nil
	for _, run := range c.Runs {
		run.Phase = v1alpha1.RunRecorded
		c.status.Runs = append(c.status.Runs, run)
	}
	c.Benchmark.Spec.Upload = &v1alpha1.BenchmarkUpload{URL: "s3://kept"}
	c.Judge, c.Judged = newPod("judge", corev1.PodSucceeded), &benchmarkpolicy.Judged{Phase: phase, Words: []string{"it decided"}}
	return c
}

// The result is uploaded once it is made.
func TestUploading(t *testing.T) {
	t.Parallel()
	c := judged(v1alpha1.BenchmarkSucceeded)
	// What was made stays made, whatever becomes of the pod that uploads it.
	for _, want := range []benchmarkpolicy.Task{benchmarkpolicy.TaskWait, benchmarkpolicy.TaskMakeUploader} {
		if task := benchmarkpolicy.Advance(c.Observation, c.status); task != want || c.status.Phase != v1alpha1.BenchmarkJudging {
			t.Errorf("there is %s to do, and the benchmark is %s; want %s", task, c.status.Phase, want)
		}
	}
	if began := c.status.UploadStartTime; began == nil || !began.Time.Equal(now) {
		t.Errorf("it is uploaded from %v on", began)
	}
	c.Uploader = newPod("uploader", corev1.PodPending)
	c.status.UploadStartTime = ago(10 * time.Minute)
	if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskWait ||
		c.status.Phase != v1alpha1.BenchmarkJudging || !strings.Contains(c.words(), "is uploaded: its pod is Pending") {
		t.Errorf("there is %s to do, and the benchmark is %s: %s", task, c.status.Phase, c.words())
	}
}

// A pod that the API server refuses is waited for however long that takes, whether the pod that
// made the result is still there or not. It has its own time once it is taken.
func TestAnUploaderThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, goes := range map[string]bool{"its judge stays": false, "its judge goes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := judged(v1alpha1.BenchmarkSucceeded)
			judge, said := c.Judge, c.Judged
			for step := range 10 {
				before := c.status.DeepCopy()
				if benchmarkpolicy.Advance(c.Observation, c.status) == benchmarkpolicy.TaskMakeUploader {
					// Nothing that was to be noted is so.
					c.status = before
					benchmarkpolicy.Hold(c.Benchmark, c.status, v1alpha1.ReasonApplyFailed, "there is no such account", metav1.NewTime(c.Now))
				}
				if step == 0 {
					continue
				}
				if goes {
					c.Judge, c.Judged = nil, nil
				}
				c.Now = c.Now.Add(11 * time.Minute)
			}
			if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskMakeUploader || c.status.EndTime != nil {
				t.Fatalf("there is %s to do, and the benchmark is %s: %s", task, c.status.Phase, c.words())
			}
			c.Uploader = newPod("uploader", corev1.PodRunning)
			c.Now = c.Now.Add(10 * time.Minute)
			if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskWait || c.status.EndTime != nil {
				t.Fatalf("there is %s to do, and the benchmark is %s: %s", task, c.status.Phase, c.words())
			}
			c.Now = c.Now.Add(time.Minute)
			if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskRemoveUploader {
				t.Errorf("there is %s to do, and the benchmark is %s: %s", task, c.status.Phase, c.words())
			}
			c.Judge, c.Judged = judge, said
			benchmarkpolicy.Advance(c.Observation, c.status)
			if want := "the result is not in its bucket: the pod that uploads it did not end within 10m0s: its pod is Running"; c.words() != want {
				t.Errorf("the benchmark is %s: %s, want %s", c.status.Phase, c.words(), want)
			}
		})
	}
}

// Pods that somebody or their machine took away have not failed: others are made. An upload is
// not tried for ever.
func TestPodsThatAreTakenAway(t *testing.T) {
	t.Parallel()
	const late = 11 * time.Minute
	deleted := func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: now} }
	evicted := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	}
	for name, test := range map[string]struct {
		phase corev1.PodPhase
		edit  func(*corev1.Pod)
		since time.Duration
		// judge and uploader are what there is to do if it is the one or the other.
		judge, uploader benchmarkpolicy.Task
		// ended says that the upload has ended.
		ended bool
	}{
		"deleted":                  {corev1.PodRunning, deleted, 0, benchmarkpolicy.TaskWait, benchmarkpolicy.TaskWait, false},
		"deleted, and ended by it": {corev1.PodFailed, deleted, 0, benchmarkpolicy.TaskWait, benchmarkpolicy.TaskWait, false},
		"evicted":                  {corev1.PodFailed, evicted, 0, benchmarkpolicy.TaskRemoveJudge, benchmarkpolicy.TaskRemoveUploader, false},
		"deleted for ever":         {corev1.PodRunning, deleted, late, benchmarkpolicy.TaskWait, benchmarkpolicy.TaskRemoveUploader, true},
		"evicted for ever":         {corev1.PodFailed, evicted, late, benchmarkpolicy.TaskRemoveJudge, benchmarkpolicy.TaskWait, true},
	} {
		c := judged(v1alpha1.BenchmarkSucceeded)
		c.status.UploadStartTime = ago(test.since)
		c.Uploader, c.UploadedTo = newPod("uploader", test.phase), "s3://kept/bench/1"
		test.edit(c.Uploader)
		task := benchmarkpolicy.Advance(c.Observation, c.status)
		if task != test.uploader || (c.status.EndTime != nil) != test.ended {
			t.Errorf("%s: there is %s to do, and the benchmark is %s: %s", name, task, c.status.Phase, c.words())
		}

		c = judged(v1alpha1.BenchmarkSucceeded)
		c.Judge, c.Judged = newPod("judge", test.phase), nil
		test.edit(c.Judge)
		task = benchmarkpolicy.Advance(c.Observation, c.status)
		if task != test.judge || c.status.EndTime != nil {
			t.Errorf("%s: there is %s to do, and the benchmark is %s: %s", name, task, c.status.Phase, c.words())
		}
	}
}

// A pod that was done when somebody deleted it has done it.
func TestAnUploaderThatIsDeletedOnceItWasDone(t *testing.T) {
	t.Parallel()
	c := judged(v1alpha1.BenchmarkSucceeded)
	c.status.UploadStartTime = ago(time.Minute)
	c.Uploader, c.UploadedTo = newPod("uploader", corev1.PodSucceeded), "s3://kept/bench/1"
	c.Uploader.DeletionTimestamp = &metav1.Time{Time: now}
	if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskWait || c.status.EndTime == nil {
		t.Errorf("there is %s to do, and the benchmark is %s: %s", task, c.status.Phase, c.words())
	}
}

// The pod that made a result may go once it has said what it came to, as every pod on a
// machine that is drained. The upload comes to its end, and the result is made again for what
// was said of it.
func TestAJudgeThatGoesWhileItsResultIsUploaded(t *testing.T) {
	t.Parallel()
	const at = "s3://kept/bench/1"
	for name, test := range map[string]struct {
		uploader  *corev1.Pod
		uploading time.Duration
		tasks     []benchmarkpolicy.Task
		phase     v1alpha1.BenchmarkPhase
		words     string
		url       string
	}{
		"an upload that has ended": {
			newPod("uploader", corev1.PodSucceeded), 2 * time.Minute,
			[]benchmarkpolicy.Task{benchmarkpolicy.TaskMakeJudge},
			v1alpha1.BenchmarkSucceeded, "it decided", at,
		},
		"an upload that failed": {
			newPod("uploader", corev1.PodFailed), 2 * time.Minute,
			[]benchmarkpolicy.Task{benchmarkpolicy.TaskMakeJudge},
			v1alpha1.BenchmarkFailed, "the result is not in its bucket: its pod is Failed", "",
		},
		"an upload that takes too long": {
			newPod("uploader", corev1.PodRunning), 11 * time.Minute,
			[]benchmarkpolicy.Task{benchmarkpolicy.TaskRemoveUploader, benchmarkpolicy.TaskMakeJudge},
			v1alpha1.BenchmarkFailed, "the result is not in its bucket: the pod that uploads it did not end within 10m0s: its pod is Running", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := judged(v1alpha1.BenchmarkSucceeded)
			judge, said := c.Judge, c.Judged
			c.Judge, c.Judged = nil, nil
			c.Uploader, c.UploadedTo = test.uploader, at
			c.status.UploadStartTime = ago(test.uploading)
			for _, want := range test.tasks {
				if task := benchmarkpolicy.Advance(c.Observation, c.status); task != want || c.status.EndTime != nil {
					t.Fatalf("there is %s to do, and the benchmark is %s: %s; want %s", task, c.status.Phase, c.words(), want)
				}
			}
			// The pod that uploaded may go as well: what became of it is noted.
			c.Uploader, c.UploadedTo, c.Judge = nil, "", newPod("judge", corev1.PodRunning)
			c.Now = now.Add(9 * time.Minute)
			if task := benchmarkpolicy.Advance(c.Observation, c.status); task != benchmarkpolicy.TaskWait || c.status.EndTime != nil {
				t.Fatalf("there is %s to do, and the benchmark is %s: %s", task, c.status.Phase, c.words())
			}
			c.Judge, c.Judged = judge, said
			benchmarkpolicy.Advance(c.Observation, c.status)
			if c.status.Phase != test.phase || c.words() != test.words || c.status.ArtifactURL != test.url ||
				len(c.status.Verdict) != 1 || c.status.Artifact == nil {
				t.Errorf("the benchmark is %s: %s, and its status %+v", c.status.Phase, c.words(), c.status)
			}
		})
	}
}

// What is uploaded goes on being so without the pod that made it, and nobody writes it anew
// meanwhile. It is made again after that.
func TestAnUploadWithoutItsJudge(t *testing.T) {
	t.Parallel()
	evicted := newPod("uploader", corev1.PodFailed)
	evicted.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	for name, test := range map[string]struct {
		uploader  *corev1.Pod
		uploading time.Duration
		task      benchmarkpolicy.Task
		phase     v1alpha1.BenchmarkPhase
		words     string
	}{
		"that runs": {
			newPod("uploader", corev1.PodRunning), 2 * time.Minute, benchmarkpolicy.TaskWait,
			v1alpha1.BenchmarkJudging, "the result is made, and is uploaded: its pod is Running",
		},
		"that went as well": {
			nil, 2 * time.Minute, benchmarkpolicy.TaskMakeUploader, v1alpha1.BenchmarkJudging, "the result is made, and is uploaded",
		},
		"that was taken away as well": {
			evicted, 2 * time.Minute, benchmarkpolicy.TaskRemoveUploader,
			v1alpha1.BenchmarkJudging, "the result is made, and is uploaded: the pod that uploads it was taken from its machine",
		},
		"that took too long": {
			nil, 21 * time.Minute, benchmarkpolicy.TaskMakeJudge, v1alpha1.BenchmarkJudging, "all runs are recorded, and the result is made",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := judged(v1alpha1.BenchmarkSucceeded)
			c.Judge, c.Judged, c.Uploader = nil, nil, test.uploader
			c.status.UploadStartTime = ago(test.uploading)
			task := benchmarkpolicy.Advance(c.Observation, c.status)
			if task != test.task || c.status.Phase != test.phase || c.words() != test.words {
				t.Errorf("there is %s to do, and the benchmark is %s: %s; want %s, and %s: %s",
					task, c.status.Phase, c.words(), test.task, test.phase, test.words)
			}
		})
	}
}

// A benchmark without a result has none to upload.
func TestNoResultToUpload(t *testing.T) {
	t.Parallel()
	c := judged(v1alpha1.BenchmarkSucceeded)
	c.Judge, c.Judged = newPod("judge", corev1.PodFailed), nil
	benchmarkpolicy.Advance(c.Observation, c.status)
	uploaded := meta.FindStatusCondition(c.status.Conditions, v1alpha1.ConditionUploaded)
	if c.status.EndTime == nil || uploaded == nil || uploaded.Status != metav1.ConditionFalse || uploaded.Reason != v1alpha1.ReasonNoResult {
		t.Errorf("without a result, the benchmark is %s, and the condition %+v", c.status.Phase, uploaded)
	}
}

// A pod that is taken away before it ends, again and again, is made for ten minutes.
func TestAnUploaderThatIsTakenAwayForEver(t *testing.T) {
	t.Parallel()
	c := judged(v1alpha1.BenchmarkSucceeded)
	c.status.UploadStartTime = ago(0)
	for range 20 {
		if task := benchmarkpolicy.Advance(c.Observation, c.status); task == benchmarkpolicy.TaskWait {
			break
		}
		c.Now = c.Now.Add(time.Minute)
	}
	want := "the pod that uploads it did not end within 10m0s, and is gone"
	if waited := c.Now.Sub(now); c.status.EndTime == nil || waited != 11*time.Minute || !strings.Contains(c.words(), want) {
		t.Errorf("after %s, the benchmark is %s: %s", waited, c.status.Phase, c.words())
	}
}

// A benchmark succeeds only with its result in its bucket; what was decided stays,
// whatever becomes of that.
func TestUploaded(t *testing.T) {
	t.Parallel()
	const at = "s3://kept/bench/1"
	for name, test := range map[string]struct {
		outcome  v1alpha1.BenchmarkPhase
		pod      corev1.PodPhase
		waits    time.Duration
		at       string
		phase    v1alpha1.BenchmarkPhase
		words    string
		uploaded metav1.ConditionStatus
	}{
		"uploaded":  {v1alpha1.BenchmarkSucceeded, corev1.PodSucceeded, 0, at, v1alpha1.BenchmarkSucceeded, "it decided", metav1.ConditionTrue},
		"regressed": {v1alpha1.BenchmarkRegressed, corev1.PodSucceeded, 0, at, v1alpha1.BenchmarkRegressed, "it decided", metav1.ConditionTrue},
		"failed": {
			v1alpha1.BenchmarkSucceeded, corev1.PodFailed, 0, "", v1alpha1.BenchmarkFailed,
			"the result is not in its bucket: its pod is Failed", metav1.ConditionFalse,
		},
		"silent": {
			v1alpha1.BenchmarkSucceeded, corev1.PodSucceeded, 0, "", v1alpha1.BenchmarkFailed,
			"the result is not in its bucket: the pod that uploads it did not say where it is", metav1.ConditionFalse,
		},
		"late": {
			v1alpha1.BenchmarkSucceeded, corev1.PodPending, 11 * time.Minute, "", v1alpha1.BenchmarkFailed,
			"the result is not in its bucket: the pod that uploads it did not end within 10m0s: its pod is Pending", metav1.ConditionFalse,
		},
		"failed after regressing": {
			v1alpha1.BenchmarkRegressed, corev1.PodFailed, 0, "", v1alpha1.BenchmarkRegressed,
			"it decided; and the result is not in its bucket: its pod is Failed", metav1.ConditionFalse,
		},
	} {
		c := judged(test.outcome)
		c.Uploader, c.UploadedTo = newPod("uploader", test.pod), test.at
		c.status.UploadStartTime = ago(test.waits)
		task, want := benchmarkpolicy.Advance(c.Observation, c.status), benchmarkpolicy.TaskWait
		if test.pod == corev1.PodPending {
			want = benchmarkpolicy.TaskRemoveUploader
		}
		if task != want {
			t.Errorf("%s: there is %s to do, want %s", name, task, want)
		}
		if c.status.Phase != test.phase || c.words() != test.words || c.status.EndTime == nil {
			t.Errorf("%s: the benchmark is %s: %s, want %s: %s", name, c.status.Phase, c.words(), test.phase, test.words)
		}
		if c.status.ArtifactURL != test.at || c.status.Artifact == nil || len(c.status.Verdict) != 1 {
			t.Errorf("%s: the status is %+v", name, c.status)
		}
		uploaded := meta.FindStatusCondition(c.status.Conditions, v1alpha1.ConditionUploaded)
		if uploaded == nil || uploaded.Status != test.uploaded {
			t.Errorf("%s: the condition is %+v", name, uploaded)
		}
	}
}

// Networks that share no machines have nothing of being run at the same time.
func TestSideBySideIsRefused(t *testing.T) {
	t.Parallel()
	for interleaving, refused := range map[v1alpha1.BenchmarkInterleaving]bool{
		"": false, v1alpha1.InterleavingInTurn: false, v1alpha1.InterleavingSideBySide: true,
	} {
		benchmark := &v1alpha1.Benchmark{}
		benchmark.Spec.Interleaving = interleaving
		if words := benchmarkpolicy.Refused(benchmark, ""); strings.Contains(words, "in a cluster variants are run InTurn") != refused {
			t.Errorf("%q: it is refused with %q", interleaving, words)
		}
	}
}

// What no network of its template can carry is refused before one is made.
func TestALoadThatIsRefused(t *testing.T) {
	t.Parallel()
	got := benchmarkpolicy.Refused(&v1alpha1.Benchmark{}, "it is too much")
	if want := "its network cannot carry the load: it is too much"; got != want {
		t.Errorf("it is refused with %q, want %q", got, want)
	}
}

// Where nobody can send what users should, the words say what is missing.
func TestUsersWhoCannotSend(t *testing.T) {
	t.Parallel()
	of := func(edit func(*v1alpha1.BenchmarkSpec)) *v1alpha1.Benchmark {
		benchmark := &v1alpha1.Benchmark{}
		benchmark.Spec.Load.OpenLoop = &v1alpha1.OpenLoopLoad{}
		edit(&benchmark.Spec)
		return benchmark
	}
	for name, test := range map[string]struct {
		benchmark *v1alpha1.Benchmark
		want      string
	}{
		"rpc nodes":       {of(func(spec *v1alpha1.BenchmarkSpec) { spec.Network.Template.Spec.RPCNodes = 1 }), ""},
		"no rpc nodes":    {of(func(*v1alpha1.BenchmarkSpec) {}), "its network has none: give spec.network.template.spec.rpcNodes"},
		"a named network": {of(func(spec *v1alpha1.BenchmarkSpec) { spec.Network.Name = "n" }), "leave spec.network.name out"},
		"no users":        {&v1alpha1.Benchmark{}, ""},
	} {
		got := benchmarkpolicy.Refused(test.benchmark, "")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: it is refused with %q, want %q", name, got, test.want)
		}
	}
}
