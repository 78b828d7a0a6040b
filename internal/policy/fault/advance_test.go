// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/api/v1alpha1"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// now is when the faults of these tests are looked at.
var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// faultCase is a fault of one validator of a network that is ready.
type faultCase struct {
	*faultpolicy.Observation
	status *v1alpha1.FaultStatus
}

// newFaultCase has a fault in a phase, with all that belongs to it: a fault that kills
// if it runs.
func newFaultCase(phase v1alpha1.FaultPhase) *faultCase {
	fault := &v1alpha1.Fault{
		ObjectMeta: metav1.ObjectMeta{Name: "fault", Generation: 1, UID: "fault"},
		Spec: v1alpha1.FaultSpec{
			NetworkName: "net", Action: v1alpha1.FaultActionKill, Kill: &v1alpha1.KillFault{Restart: v1alpha1.FaultRestartAtOnce},
			DurationSeconds: 30,
		},
	}
	c := &faultCase{
		Observation: &faultpolicy.Observation{
			Fault:   fault,
			Network: &v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{Name: "net", UID: "network", Generation: 1}},
			Scope:   []topology.Validator{{Name: "net-s0-p0"}},
			Victims: map[string]*corev1.Pod{"net-s0-p0": newPod("victim")},
			Now:     now,
		},
		status: &v1alpha1.FaultStatus{Phase: phase},
	}
	c.networkCondition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	if phase == v1alpha1.FaultRunning {
		c.status.PodUID, c.status.NetworkUID, c.status.NetworkGeneration = "watcher", "network", 1
		c.Pod = newPod("watcher")
	}
	return c
}

func newPod(uid types.UID) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: uid, CreationTimestamp: metav1.NewTime(now.Add(-time.Second))},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// gated is the pod that measures, which has done nothing.
func (c *faultCase) gated() {
	c.Pod = resources.NewWatcher(c.Fault, c.Network, resources.FaultInputs{})
	c.Pod.UID = "watcher"
}

// due has the pod that measures ask for the fault.
func (c *faultCase) due() {
	c.Pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func (c *faultCase) noted() {
	c.status.Victims = []v1alpha1.FaultPod{{Validator: "net-s0-p0", UID: "victim"}}
}

// killed has another pod in the place of the one that is noted.
func (c *faultCase) killed() {
	c.noted()
	c.Victims["net-s0-p0"] = newPod("after")
}

// killedInPart has one of two that are noted be killed.
func (c *faultCase) killedInPart() {
	c.killed()
	c.status.Victims = append(c.status.Victims, v1alpha1.FaultPod{Validator: "net-s1-p0", UID: "other"})
	c.Victims["net-s1-p0"] = newPod("other")
}

func (c *faultCase) networkCondition(kind string, status metav1.ConditionStatus, reason string) {
	meta.SetStatusCondition(&c.Network.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: "words", ObservedGeneration: 1,
	})
}

func (c *faultCase) ready() *metav1.Condition {
	return meta.FindStatusCondition(c.status.Conditions, v1alpha1.ConditionReady)
}

// Each step of a fault, and what there is to do.
func TestStepsOfAFault(t *testing.T) {
	t.Parallel()
	const pending, running = v1alpha1.FaultPending, v1alpha1.FaultRunning
	cases := map[string]struct {
		phase v1alpha1.FaultPhase
		given func(c *faultCase)
		task  faultpolicy.Task
		want  v1alpha1.FaultPhase
	}{
		"a new one":             {"", func(*faultCase) {}, faultpolicy.TaskMakePod, pending},
		"a pod that has a gate": {pending, (*faultCase).gated, faultpolicy.TaskWait, running},
		"a pod of before the spec changed": {
			pending, func(c *faultCase) {
				c.gated()
				c.Network.Generation = 2
				meta.SetStatusCondition(&c.Network.Status.Conditions, metav1.Condition{
					Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonRunning, ObservedGeneration: 2,
				})
			}, faultpolicy.TaskDiscard, pending,
		},
		"a pod that goes": {
			pending, func(c *faultCase) { c.gated(); c.Pod.DeletionTimestamp = &metav1.Time{Time: now} }, faultpolicy.TaskWait, pending,
		},
		"a pod that is noted": {running, func(c *faultCase) { c.gated() }, faultpolicy.TaskRelease, running},
		"a pod that starts": {
			running, func(c *faultCase) { c.Pod.Status.Phase = corev1.PodPending }, faultpolicy.TaskWait, running,
		},
		"a pod that measures": {running, func(*faultCase) {}, faultpolicy.TaskWait, running},
		"a pod that asks":     {running, (*faultCase).due, faultpolicy.TaskWait, running},
		"a victim that is noted": {
			running, func(c *faultCase) { c.due(); c.noted() }, faultpolicy.TaskKill, running,
		},
		"a victim that is noted, and nobody asks any more": {running, (*faultCase).noted, faultpolicy.TaskWait, running},
		"a victim that goes on while another is gone": {
			running, func(c *faultCase) { c.due(); c.killedInPart() }, faultpolicy.TaskKill, running,
		},
		"victims that go": {
			running, func(c *faultCase) {
				c.killedInPart()
				c.Victims["net-s1-p0"].DeletionTimestamp = &metav1.Time{Time: now}
			}, faultpolicy.TaskWait, running,
		},
		"a victim that is gone": {
			running, func(c *faultCase) { c.due(); c.noted(); c.Victims = nil }, faultpolicy.TaskWait, running,
		},
		"a victim that is another": {
			running, func(c *faultCase) { c.due(); c.noted(); c.Victims["net-s0-p0"].UID = "after" }, faultpolicy.TaskWait, running,
		},
		"a drain that waits": {
			running, func(c *faultCase) {
				c.networkCondition(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
			}, faultpolicy.TaskWait, running,
		},
		"an update that waits for its height": {
			running, func(c *faultCase) {
				c.networkCondition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonAwaitingHeight)
			}, faultpolicy.TaskWait, running,
		},
		"a new one, while an update waits for its height": {
			"", func(c *faultCase) {
				c.networkCondition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonAwaitingHeight)
			}, faultpolicy.TaskMakePod, pending,
		},
		"a network that is worse for it": {
			running, func(c *faultCase) {
				c.networkCondition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDegraded)
			}, faultpolicy.TaskWait, running,
		},
		"a pod that has ended": {
			running, func(c *faultCase) {
				c.killed()
				c.Pod.Status.Phase, c.Measured = corev1.PodSucceeded, &v1alpha1.FaultStatus{}
			}, faultpolicy.TaskWait, v1alpha1.FaultMeasured,
		},
		"a pod that has ended while its victim goes": {
			running, func(c *faultCase) {
				c.noted()
				c.Victims["net-s0-p0"].DeletionTimestamp = &metav1.Time{Time: now}
				c.Pod.Status.Phase, c.Measured = corev1.PodSucceeded, &v1alpha1.FaultStatus{}
			}, faultpolicy.TaskWait, v1alpha1.FaultMeasured,
		},
		"a pod that had ended before its network went": {
			running, func(c *faultCase) {
				c.killed()
				c.Pod.Status.Phase, c.Measured, c.Network = corev1.PodSucceeded, &v1alpha1.FaultStatus{}, nil
			}, faultpolicy.TaskWait, v1alpha1.FaultMeasured,
		},
		"one that is taken back": {
			v1alpha1.FaultStopping, func(*faultCase) {}, faultpolicy.TaskTakeBack, v1alpha1.FaultStopping,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFaultCase(test.phase)
			test.given(c)
			if task := faultpolicy.Advance(c.Observation, c.status); task != test.task || c.status.Phase != test.want {
				t.Errorf("there is %s to do, and the fault is %s (%s), want %s and %s",
					task, c.status.Phase, c.status.Problem, test.task, test.want)
			}
		})
	}
}

// What a fault waits for, and what it is not for at all.
func TestWhatKeepsAFaultFromBeginning(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		given  func(c *faultCase)
		reason string
		words  string
	}{
		"no network": {
			func(c *faultCase) { c.Network = nil }, v1alpha1.ReasonNetworkWaits, "there is no network net in this namespace",
		},
		"a network that goes": {
			func(c *faultCase) { c.Network.DeletionTimestamp = &metav1.Time{Time: now} },
			v1alpha1.ReasonNetworkWaits, "network net is deleted",
		},
		"a network that is not ready": {
			func(c *faultCase) {
				c.networkCondition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStarting)
			},
			v1alpha1.ReasonNetworkWaits, "network net is not ready: Starting: words",
		},
		"a network that was ready as it was before": {
			func(c *faultCase) { c.Network.Generation = 2 }, v1alpha1.ReasonNetworkWaits, "it is not known yet whether network net is ready",
		},
		"a roll-out": {
			func(c *faultCase) {
				c.networkCondition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonUpdating)
			},
			v1alpha1.ReasonNetworkWaits, "network net is rolled out: Updating: words",
		},
		"a drain": {
			func(c *faultCase) {
				c.networkCondition(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDraining)
			},
			v1alpha1.ReasonNetworkWaits, "machines of network net are drained: words",
		},
		"another fault": {
			func(c *faultCase) {
				other := v1alpha1.Fault{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
				other.Status.Phase = v1alpha1.FaultStopping
				c.Others = append(c.Others, other)
			},
			v1alpha1.ReasonNetworkWaits, "the fault other of network net goes on",
		},
		"a benchmark that measures the network": {
			func(c *faultCase) { c.Claimant = "b" }, v1alpha1.ReasonNetworkWaits, "network net carries the load of the Benchmark b",
		},
		"another cluster": {
			func(c *faultCase) { c.Network.Spec.Regions = []v1alpha1.Region{{Name: "west", Cluster: "far"}} },
			v1alpha1.ReasonNotRunnable, "region west of network net is in another cluster",
		},
		"a benchmark": {
			func(c *faultCase) {
				c.Network.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
					&v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: "bench"}}, v1alpha1.GroupVersion.WithKind(v1alpha1.KindBenchmark))}
			},
			v1alpha1.ReasonNotRunnable, "network net is of a run of the Benchmark bench",
		},
		"nobody": {
			func(c *faultCase) { c.Unusable = "spec.validators: nobody" }, v1alpha1.ReasonNotRunnable, "spec.validators: nobody",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFaultCase("")
			// Not even a pod that is there is let in.
			c.gated()
			test.given(c)
			task := faultpolicy.Advance(c.Observation, c.status)
			want := v1alpha1.FaultPending
			if test.reason == v1alpha1.ReasonNotRunnable {
				want = v1alpha1.FaultNotMeasured
			}
			if ready := c.ready(); task != faultpolicy.TaskWait || c.status.Phase != want || ready.Reason != test.reason ||
				!strings.Contains(ready.Message, test.words) || c.status.PodUID != "" {
				t.Errorf("there is %s to do, and the fault is %s by %s: %s, want %s by %s: %s",
					task, c.status.Phase, ready.Reason, ready.Message, want, test.reason, test.words)
			}
		})
	}
}

// Faults that wait for the same network begin in the order in which they were made, and
// one that begins only once somebody helps it holds up nobody.
func TestTheOrderOfFaults(t *testing.T) {
	t.Parallel()
	const first = "nothing was done: the fault earlier of network net is older and comes first"
	cases := map[string]struct {
		given func(earlier *v1alpha1.Fault)
		words string
	}{
		"one that waits":                  {pending(v1alpha1.ReasonNetworkWaits), first},
		"one whose pod is made":           {pending(v1alpha1.ReasonUnderWay), first},
		"one that nobody has looked at":   {func(*v1alpha1.Fault) {}, first},
		"one made in the same second":     {func(e *v1alpha1.Fault) { e.CreationTimestamp = metav1.NewTime(now) }, first},
		"one made later":                  {func(e *v1alpha1.Fault) { e.CreationTimestamp = metav1.NewTime(now.Add(time.Second)) }, ""},
		"one that is deleted":             {func(e *v1alpha1.Fault) { e.DeletionTimestamp = &metav1.Time{Time: now} }, ""},
		"one whose pod's name is taken":   {pending(v1alpha1.ReasonNameTaken), ""},
		"one whose objects are refused":   {pending(v1alpha1.ReasonApplyFailed), ""},
		"one that the operator can't run": {pending(v1alpha1.ReasonNotRunnable), ""},
		"one that is over":                {func(e *v1alpha1.Fault) { e.Status.Phase = v1alpha1.FaultMeasured }, ""},
		"one that was not measured":       {func(e *v1alpha1.Fault) { e.Status.Phase = v1alpha1.FaultNotMeasured }, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFaultCase("")
			c.Fault.CreationTimestamp = metav1.NewTime(now)
			earlier := v1alpha1.Fault{ObjectMeta: metav1.ObjectMeta{Name: "earlier", CreationTimestamp: metav1.NewTime(now.Add(-time.Second))}}
			test.given(&earlier)
			c.Others = append(c.Others, earlier)
			task := faultpolicy.Advance(c.Observation, c.status)
			if held := c.ready().Reason == v1alpha1.ReasonNetworkWaits; held != (test.words != "") || held && c.ready().Message != test.words ||
				held != (task == faultpolicy.TaskWait) {
				t.Errorf("there is %s to do, and the fault is told %s: %q, want %q", task, c.ready().Reason, c.ready().Message, test.words)
			}
		})
	}
}

// pending has a fault not have begun, for a reason.
func pending(reason string) func(*v1alpha1.Fault) {
	return func(fault *v1alpha1.Fault) {
		fault.Status.Phase = v1alpha1.FaultPending
		meta.SetStatusCondition(&fault.Status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason,
		})
	}
}

// What keeps a fault from being measured is noted before it is taken back.
func TestWhatBreaksAFault(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		given func(c *faultCase)
		want  string
	}{
		"no pod":      {func(c *faultCase) { c.Pod = nil }, "the pod that measured it was deleted"},
		"another pod": {func(c *faultCase) { c.Pod.UID = "other" }, "the pod that measured it was deleted"},
		"a pod that goes": {
			func(c *faultCase) { c.Pod.DeletionTimestamp = &metav1.Time{Time: now} }, "the pod that measured it was deleted",
		},
		"a pod that failed": {
			func(c *faultCase) {
				c.Pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"}
			}, "the pod that measured it ended: Evicted: low on memory",
		},
		"a pod that says nothing": {
			func(c *faultCase) { c.Pod.Status.Phase = corev1.PodSucceeded }, "the pod that measured it ended and did not say what came of it",
		},
		"a pod that does not start": {
			func(c *faultCase) {
				c.Pod.Status.Phase = corev1.PodPending
				c.Pod.CreationTimestamp = metav1.NewTime(now.Add(-11 * time.Minute))
			}, "the pod that measures it did not start within 10m0s: its pod is Pending",
		},
		"no network": {func(c *faultCase) { c.Network = nil }, "its network was deleted"},
		"another network": {
			func(c *faultCase) { c.Network.UID = "other" }, "its network was deleted, and there is another of its name",
		},
		"a network that goes": {
			func(c *faultCase) { c.Network.DeletionTimestamp = &metav1.Time{Time: now} }, "somebody deletes its network",
		},
		"a network that changes": {
			func(c *faultCase) { c.Network.Generation = 2 }, "the spec of its network was changed meanwhile",
		},
		"a roll-out while somebody is to be killed": {
			func(c *faultCase) {
				c.due()
				c.noted()
				c.networkCondition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonUpdating)
			}, "its network is rolled out: Updating: words",
		},
		"a drain that evicts somebody": {
			func(c *faultCase) {
				c.networkCondition(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDraining)
			}, "machines of its network are drained: words",
		},
		"nobody who was to be killed": {
			func(c *faultCase) {
				c.Pod.Status.Phase, c.Measured = corev1.PodSucceeded, &v1alpha1.FaultStatus{}
			}, "nobody was killed, and the pod that measured it took something else for that",
		},
		"nobody who was killed": {
			func(c *faultCase) {
				c.noted()
				c.Pod.Status.Phase, c.Measured = corev1.PodSucceeded, &v1alpha1.FaultStatus{}
			}, "nobody was killed, and the pod that measured it took something else for that",
		},
		"not all who were to be killed, and nobody asks any more": {
			func(c *faultCase) { c.killedInPart() },
			"not all of 2 validators were killed while the pod that measures asked for it: killed net-s0-p0, and not killed net-s1-p0",
		},
		"not all who were to be killed, by the end": {
			func(c *faultCase) {
				c.killedInPart()
				c.Pod.Status.Phase, c.Measured = corev1.PodSucceeded, &v1alpha1.FaultStatus{}
			}, "not all of 2 validators were killed while the pod that measures asked for it: killed net-s0-p0, and not killed net-s1-p0",
		},
		"nobody to kill": {
			func(c *faultCase) { c.due(); c.Victims = nil }, "validator net-s0-p0 has no pod that could be killed",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFaultCase(v1alpha1.FaultRunning)
			test.given(c)
			task := faultpolicy.Advance(c.Observation, c.status)
			if task != faultpolicy.TaskWait || c.status.Phase != v1alpha1.FaultStopping ||
				c.status.Problem != test.want || c.status.StopTime == nil {
				t.Errorf("there is %s to do, and the fault is %s: %q, want %q", task, c.status.Phase, c.status.Problem, test.want)
			}
			faultpolicy.TakenBack(c.Observation, c.status)
			if c.status.Phase != v1alpha1.FaultNotMeasured || c.status.Problem != test.want || c.ready().Reason != v1alpha1.ReasonNotMeasured ||
				c.status.StartTime != nil || len(c.status.Conditions) != 2 {
				t.Errorf("the status is %+v", c.status)
			}
		})
	}
}

// A pod may wait behind its gate for as long as its network is not ready. What it takes to
// start counts from when it is let through.
func TestAPodThatWaitedBehindItsGate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		released time.Duration
		want     v1alpha1.FaultPhase
		problem  string
	}{
		"released just now":         {0, v1alpha1.FaultRunning, ""},
		"released ten minutes ago":  {10 * time.Minute, v1alpha1.FaultRunning, ""},
		"released by a clock ahead": {-time.Minute, v1alpha1.FaultRunning, ""},
		"released long ago": {
			11 * time.Minute, v1alpha1.FaultStopping, "the pod that measures it did not start within 10m0s: its pod is Pending",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFaultCase(v1alpha1.FaultPending)
			c.gated()
			c.Pod.CreationTimestamp = metav1.NewTime(now.Add(-24 * time.Hour))
			c.Pod.Status.Phase = corev1.PodPending
			for _, want := range []faultpolicy.Task{faultpolicy.TaskWait, faultpolicy.TaskRelease} {
				if task := faultpolicy.Advance(c.Observation, c.status); task != want || c.status.Phase != v1alpha1.FaultRunning {
					t.Fatalf("there is %s to do, and the fault is %s: %q, want %s", task, c.status.Phase, c.status.Problem, want)
				}
			}
			c.Pod.Spec.SchedulingGates = nil
			c.Pod.Annotations[resources.AnnotationReleased] = now.Add(-test.released).Format(time.RFC3339)
			task := faultpolicy.Advance(c.Observation, c.status)
			if task != faultpolicy.TaskWait || c.status.Phase != test.want || c.status.Problem != test.problem {
				t.Errorf("there is %s to do, and the fault is %s: %q, want %s: %q", task, c.status.Phase, c.status.Problem, test.want, test.problem)
			}
		})
	}
}

// Nodes end a fault of links by themselves after its duration, and not before.
func TestFaultsThatAreOverByThemselves(t *testing.T) {
	t.Parallel()
	fault := newFaultCase("").Fault
	for elapsed, want := range map[time.Duration]bool{29 * time.Second: false, 30 * time.Second: false, 2 * time.Minute: true} {
		if got := faultpolicy.OverByItself(fault, now, now.Add(elapsed)); got != want {
			t.Errorf("after %s it is over: %v, want %v", elapsed, got, want)
		}
	}
}
