// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/deaths"
)

// The operator is another one each time that it looks.
func TestASchedule(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.settle()
	if names := c.names(); len(names) > 0 || c.condition(v1alpha1.ConditionReady).Reason != v1alpha1.ReasonScheduled {
		t.Fatalf("before its time there are %q: %+v", names, c.schedule.Status)
	}
	if next := c.schedule.Status.NextScheduleTime; next == nil || !next.Time.Equal(c.hour.Add(time.Hour)) {
		t.Errorf("the next time is %s", next)
	}
	c.at(1, 0)
	c.settle()
	c.checkBenchmark(c.name(1))
	status := &c.schedule.Status
	if active := status.Active; active == nil || active.Name != c.name(1) || active.UID != c.made[0] {
		t.Errorf("under way is %+v, want %s with the UID %s", active, c.name(1), c.made[0])
	}
	c.at(1, 10*time.Minute)
	c.end(v1alpha1.BenchmarkRegressed)
	c.settle()
	c.checkResult(c.name(1), v1alpha1.BenchmarkRegressed)
	want := []string{
		"Normal Started the benchmark " + c.name(1) + " was started, which was due at " + c.hour.Add(time.Hour).UTC().Format(time.RFC3339),
		"Warning Regressed " + c.name(1) + ": all is well",
	}
	if told := c.told(); !slices.Equal(told, want) {
		t.Errorf("told is %q, want %q", told, want)
	}
}

// checkResult checks what a schedule says that the latest benchmark came to.
func (c *cluster) checkResult(name string, phase v1alpha1.BenchmarkPhase) {
	c.t.Helper()
	status := &c.schedule.Status
	last := status.LastResult
	if status.Active != nil || last == nil || last.Name != name || last.Phase != phase || *last.TransfersPerSecond != 1999 {
		c.t.Errorf("the status is %+v", status)
	}
	if status.ObservedGeneration != c.schedule.Generation || !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionOnTime) {
		c.t.Errorf("the status is %+v", status)
	}
}

// checkBenchmark checks that the only benchmark is what the template says, and goes
// with the schedule.
func (c *cluster) checkBenchmark(name string) {
	c.t.Helper()
	benchmarks := c.benchmarks()
	if len(benchmarks) != 1 || benchmarks[0].Name != name {
		c.t.Fatalf("the benchmarks are %q, want %s", c.names(), name)
	}
	made := &benchmarks[0]
	if !metav1.IsControlledBy(made, c.schedule) || made.Labels["team"] != "protocol" || made.Annotations["example.com/why"] != "to see" ||
		made.Labels[resources.LabelBenchmarkSchedule] != "hourly" {
		c.t.Errorf("the benchmark is %+v", made.ObjectMeta)
	}
	if !equality.Semantic.DeepEqual(made.Spec, c.schedule.Spec.Template.Spec) {
		c.t.Errorf("the benchmark is\n%+v\nwant\n%+v", made.Spec, c.schedule.Spec.Template.Spec)
	}
}

// A schedule may measure a network that runs: its benchmarks name it.
func TestAScheduleOfANetworkThatRuns(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkScheduleSpec) {
		spec.Template.Spec.Network = v1alpha1.BenchmarkNetwork{Name: "running"}
	})
	c.settle()
	c.at(1, 0)
	c.settle()
	c.checkBenchmark(c.name(1))
	if network := c.benchmarks()[0].Spec.Network; network.Name != "running" {
		t.Errorf("the benchmark is of %+v", network)
	}
}

// What is kept is bounded, and what it came to stays listed.
func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkScheduleSpec) {
		spec.SuccessfulHistoryLimit, spec.FailedHistoryLimit = ptr.To[int32](1), ptr.To[int32](0)
	})
	c.settle()
	for i, phase := range []v1alpha1.BenchmarkPhase{
		v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkRegressed,
	} {
		c.at(i+1, 0)
		c.settle()
		c.end(phase)
		c.settle()
	}
	if names := c.names(); !slices.Equal(names, []string{c.name(3)}) {
		t.Errorf("kept are %q, want %s", names, c.name(3))
	}
	if len(c.made) != 4 || len(c.schedule.Status.History) != 4 {
		t.Errorf("%d were made, and listed are %+v", len(c.made), c.schedule.Status.History)
	}
}

// An operator is killed before, and after, each of its writes. Nothing is made twice,
// nothing is lost, and nothing is counted as missed that was not.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkScheduleSpec) { spec.SuccessfulHistoryLimit = ptr.To[int32](0) })
	killer := &deaths.Deaths{}
	mortal := killer.Client(t, apiServer, scheme)
	settle := func() {
		for range 40 {
			killer.Revive()
			again, err := c.look(mortal)
			if err != nil && !errors.Is(err, deaths.ErrKilled) {
				t.Fatal(err)
			}
			if !again {
				return
			}
		}
		t.Fatalf("the status changes all the time: %+v", c.schedule.Status)
	}
	for hours := range 5 {
		if hours > 0 {
			// One time is missed.
			c.at(hours+hours/3, time.Minute)
		}
		settle()
		c.end(v1alpha1.BenchmarkSucceeded)
		settle()
	}
	status := &c.schedule.Status
	if len(c.made) != 4 || len(status.History) != 4 || ptr.Deref(status.MissedRuns, 0) != 1 || status.Active != nil {
		t.Errorf("%d benchmarks were made, and the status is %+v", len(c.made), status)
	}
	if names := c.names(); len(names) > 0 {
		t.Errorf("kept are %q, want none", names)
	}
	// For each benchmark: making it, noting that, noting its end, removing it. Each of
	// them twice.
	if killer.Count() < 2*4*4 {
		t.Errorf("the operator was killed %d times only", killer.Count())
	}
}

// Several operators at once, none of which knows of the others.
func TestSeveralOperators(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.settle()
	for hours := range 5 {
		c.at(hours+1, time.Minute)
		var operators sync.WaitGroup
		for range 4 {
			operators.Go(func() {
				key := client.ObjectKeyFromObject(c.schedule)
				_, err := c.operator(c.client).Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
				if err != nil && !apierrors.IsConflict(err) {
					t.Error(err)
				}
			})
		}
		operators.Wait()
		c.read()
		c.end(v1alpha1.BenchmarkFailed)
		c.settle()
	}
	if status := &c.schedule.Status; len(c.made) != 5 || len(status.History) != 5 || ptr.Deref(status.MissedRuns, 0) != 0 {
		t.Errorf("%d benchmarks were made, and the status is %+v", len(c.made), status)
	}
	starts := 0
	for _, event := range c.told() {
		if strings.HasPrefix(event, "Normal Started") {
			starts++
		}
	}
	if starts != 5 {
		t.Errorf("%d starts were told, want 5", starts)
	}
}

// A benchmark that takes too long costs the next time, and nothing else.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.settle()
	for hours := range 3 {
		c.at(hours+1, 0)
		c.settle()
	}
	onTime := c.condition(v1alpha1.ConditionOnTime)
	if *c.schedule.Status.MissedRuns != 2 || onTime.Status != metav1.ConditionFalse || onTime.Reason != v1alpha1.ReasonPreviousUnderWay {
		t.Errorf("%d are missed: %+v", *c.schedule.Status.MissedRuns, onTime)
	}
	if ready := c.condition(v1alpha1.ConditionReady); ready.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %+v", ready)
	}
	c.end(v1alpha1.BenchmarkSucceeded)
	c.at(4, 0)
	c.settle()
	if len(c.made) != 2 || !meta.IsStatusConditionTrue(c.schedule.Status.Conditions, v1alpha1.ConditionOnTime) {
		t.Errorf("%d were made: %+v", len(c.made), c.schedule.Status)
	}
}

func TestSuspended(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.settle()
	c.setState(v1alpha1.ScheduleSuspended)
	c.settle()
	c.at(1, 0)
	c.settle()
	if ready := c.condition(v1alpha1.ConditionReady); ready.Reason != v1alpha1.ReasonSuspended || c.schedule.Status.NextScheduleTime != nil {
		t.Errorf("the status is %+v", c.schedule.Status)
	}
	c.at(2, time.Minute)
	c.setState(v1alpha1.ScheduleEnabled)
	c.settle()
	if status := &c.schedule.Status; len(c.made) != 0 || ptr.Deref(status.MissedRuns, 0) != 0 {
		t.Errorf("%d were made: %+v", len(c.made), status)
	}
	c.at(3, 0)
	c.settle()
	c.checkBenchmark(c.name(3))
}

func (c *cluster) setState(state v1alpha1.ScheduleState) {
	c.t.Helper()
	c.schedule.Spec.State = state
	c.must(c.client.Update(c.t.Context(), c.schedule))
}

// What the API server lets through and nobody understands is said, and stalls.
func TestInvalidSchedule(t *testing.T) {
	t.Parallel()
	for words, edit := range map[string]func(*v1alpha1.BenchmarkScheduleSpec){
		"beyond end of range":            func(spec *v1alpha1.BenchmarkScheduleSpec) { spec.Schedule = "0 0 * * FRI-MON" },
		"its time never comes":           func(spec *v1alpha1.BenchmarkScheduleSpec) { spec.Schedule = "0 0 31 4 *" },
		"unknown time zone Mars/Olympus": func(spec *v1alpha1.BenchmarkScheduleSpec) { spec.TimeZone = "Mars/Olympus" },
	} {
		c := newCluster(t, edit)
		c.settle()
		for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionStalled} {
			if got := c.condition(kind); got.Reason != v1alpha1.ReasonInvalidSchedule || !strings.Contains(got.Message, words) {
				t.Errorf("%s is %+v, want %q", kind, got, words)
			}
		}
	}
}

// Nothing of anybody else is touched, and what could not be made is tried again.
func TestABenchmarkThatCannotBeMade(t *testing.T) {
	t.Parallel()
	t.Run("its name is taken", func(t *testing.T) {
		t.Parallel()
		c := newCluster(t, nil)
		stranger := &v1alpha1.Benchmark{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: c.schedule.Namespace, Name: c.name(1), Labels: map[string]string{resources.LabelBenchmarkSchedule: "hourly"},
			},
			Spec: c.schedule.Spec.Template.Spec,
		}
		c.must(c.client.Create(t.Context(), stranger))
		c.settle()
		c.at(1, 0)
		if _, err := c.look(c.client); !errors.Is(err, errNameTaken) {
			t.Errorf("the error is %v", err)
		}
		if ready := c.condition(v1alpha1.ConditionReady); ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonNameTaken {
			t.Errorf("Ready is %+v", ready)
		}
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(stranger), stranger))
		if len(stranger.OwnerReferences) > 0 || len(stranger.Annotations) > 0 {
			t.Errorf("the benchmark of somebody else is %+v", stranger.ObjectMeta)
		}
		c.must(c.client.Delete(t.Context(), stranger))
		c.at(1, 30*time.Minute)
		c.settle()
		c.checkBenchmark(c.name(1))
	})
	t.Run("the cluster refuses it", func(t *testing.T) {
		t.Parallel()
		c := newCluster(t, nil)
		// The first look of all is at a time that is due.
		c.at(1, time.Minute)
		base, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
		c.must(err)
		refusing := interceptor.NewClient(base, interceptor.Funcs{
			Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
				return errors.New("exceeded quota")
			},
		})
		// It notes from when on times count.
		_, err = c.look(refusing)
		c.must(err)
		for range 2 {
			if _, err := c.look(refusing); err == nil {
				t.Error("nothing will be tried again")
			}
		}
		ready := c.condition(v1alpha1.ConditionReady)
		missed := ptr.Deref(c.schedule.Status.MissedRuns, 0)
		if ready.Reason != v1alpha1.ReasonApplyFailed || !strings.Contains(ready.Message, "exceeded quota") || missed != 0 {
			t.Errorf("the status is %+v", c.schedule.Status)
		}
		c.settle()
		c.checkBenchmark(c.name(1))
		if ready := c.condition(v1alpha1.ConditionReady); ready.Status != metav1.ConditionTrue {
			t.Errorf("Ready is %+v", ready)
		}
	})
}

// An API server that does not answer whoever makes a benchmark has refused none: the status
// stays as it is, and one that was made all the same is not made again.
func TestAnAPIServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for what, made := range map[string]bool{"nothing is made": false, "a benchmark is made": true} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, nil)
			c.settle()
			c.at(1, time.Minute)
			base, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
			c.must(err)
			silent := interceptor.NewClient(base, interceptor.Funcs{
				Apply: func(
					ctx context.Context, next client.WithWatch, wanted runtime.ApplyConfiguration, options ...client.ApplyOption,
				) error {
					if made {
						c.must(next.Apply(ctx, wanted, options...))
					}
					return apierrors.NewTimeoutError("the request did not end in time", 1)
				},
			})
			before := c.schedule.DeepCopy()
			c.told()
			if _, err := c.look(silent); !apierrors.IsTimeout(err) {
				t.Errorf("the error is %v", err)
			}
			if told := c.told(); !equality.Semantic.DeepEqual(before.Status, c.schedule.Status) || len(told) > 0 {
				t.Errorf("the status is %+v, and it is told %v", c.schedule.Status, told)
			}
			c.settle()
			c.checkBenchmark(c.name(1))
		})
	}
}

// An API server that does not answer the first look at a schedule leaves it as new as it
// was: times since its creation count.
func TestAnAPIServerThatDoesNotAnswerAtFirst(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.read()
	before := c.schedule.DeepCopy()
	if before.Status.ObservedGeneration != -1 {
		t.Fatalf("the status of a new schedule is %+v", before.Status)
	}
	c.at(1, 15*time.Minute)
	operator := c.operator(c.client)
	operator.reader = silentAboutBenchmarks{c.client}
	_, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.schedule)})
	c.read()
	if !apierrors.IsTimeout(err) || !equality.Semantic.DeepEqual(before.Status, c.schedule.Status) {
		t.Errorf("the status is %+v: %v", c.schedule.Status, err)
	}
	c.settle()
	c.checkBenchmark(c.name(1))
}

// silentAboutBenchmarks is an API server that does not answer who lists benchmarks.
type silentAboutBenchmarks struct{ client.Reader }

func (silentAboutBenchmarks) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return apierrors.NewTimeoutError("the request did not end in time", 1)
}

// Nothing is made of a schedule that is being deleted.
func TestDeletion(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.settle()
	c.must(c.client.Delete(t.Context(), c.schedule, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	c.at(1, 0)
	c.settle()
	if names := c.names(); len(names) > 0 {
		t.Errorf("there are %q of a schedule that is being deleted", names)
	}
}

// A benchmark that somebody deletes is said, and not made again.
func TestDeletedByHand(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.settle()
	c.at(1, 0)
	c.settle()
	made := c.benchmarks()[0]
	c.must(c.client.Delete(t.Context(), &made))
	c.at(1, time.Minute)
	c.settle()
	told := c.told()
	if len(c.made) != 1 || len(c.names()) > 0 || c.schedule.Status.Active != nil || !strings.HasPrefix(told[len(told)-1], "Warning Deleted") {
		t.Errorf("there are %q, told was %q: %+v", c.names(), told, c.schedule.Status)
	}
}

// Without variants, each benchmark is compared with the latest that succeeded.
func TestComparedWithTheLast(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkScheduleSpec) {
		spec.SuccessfulHistoryLimit = ptr.To[int32](1)
		spec.Template.Spec.Baseline = &v1alpha1.BenchmarkBaseline{Figures: []v1alpha1.BenchmarkFigure{v1alpha1.FigureExecutedPerSecond}}
	})
	c.settle()
	want := []string{"", c.name(1) + "-records", c.name(2) + "-records", c.name(2) + "-records"}
	for i, phase := range []v1alpha1.BenchmarkPhase{
		v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkRegressed, v1alpha1.BenchmarkSucceeded,
	} {
		c.at(i+1, 0)
		c.settle()
		made := &v1alpha1.Benchmark{}
		c.must(c.client.Get(t.Context(), client.ObjectKey{Namespace: c.schedule.Namespace, Name: c.name(i + 1)}, made))
		claim := ""
		if made.Spec.Baseline != nil {
			claim = made.Spec.Baseline.Artifact.ClaimName
		}
		if claim != want[i] {
			t.Errorf("benchmark %d is compared with %q, want %q", i+1, claim, want[i])
		}
		made.Status.Artifact = &v1alpha1.BenchmarkArtifact{ClaimName: resources.RecordsName(made.Name), Path: resources.ArtifactPath}
		c.must(c.client.Status().Update(t.Context(), made))
		c.end(phase)
		c.settle()
		if i > 0 && phase == v1alpha1.BenchmarkSucceeded && slices.Contains(c.names(), strings.TrimSuffix(want[i], "-records")) {
			t.Errorf("after %d benchmarks there are %q, and one more than the limit", i+1, c.names())
		}
	}
}
