// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
)

// maxHistory is how many benchmarks that ended a status lists.
const maxHistory = 32

// Observation is a schedule and its benchmarks.
type Observation struct {
	Schedule *v1alpha1.BenchmarkSchedule
	// Timetable is nil when the schedule cannot be understood, and Invalid says why.
	Timetable *Timetable
	Invalid   string
	// Benchmarks are those that the schedule owns.
	Benchmarks []v1alpha1.Benchmark
	Now        time.Time
}

// Step is what there is to do for a schedule.
type Step struct {
	// Start is the time for which a benchmark is to be made; nil for none.
	Start *time.Time
	// Remove are benchmarks that are no longer kept.
	Remove []*v1alpha1.Benchmark
	// Until is when to look again, which may be now; zero when nothing comes of time
	// alone.
	Until time.Time
	// News are worth an event once the status is written.
	News []News
}

// News is something that happened to a schedule.
type News struct {
	// Kind is the type of the event.
	Kind string
	// Reason is one word, and Words the sentence.
	Reason, Words string
}

// Advance finds what there is to do now, and the status that says what is so
// once that is done. Every time of the schedule is considered once: a benchmark is
// started for it, which is then noted, or it is counted as missed. What is there is
// always noted, whoever made it: of one that was made and not noted, nobody makes a
// second one.
func Advance(o *Observation, status *v1alpha1.BenchmarkScheduleStatus) Step {
	step := Step{}
	noted := noteEnded(o, status, &step)
	noteActive(o, status, &step)
	step.Remove = surplus(o)
	decide(o, status, &step)
	if noted {
		// What is listed now may be let go of.
		step.Until = o.Now
	}
	return step
}

// decide says what becomes of the times of a schedule.
func decide(o *Observation, status *v1alpha1.BenchmarkScheduleStatus, step *Step) {
	if o.Timetable == nil {
		setReady(o, status, metav1.ConditionFalse, v1alpha1.ReasonInvalidSchedule, fmt.Sprintf(
			"no benchmark is started: spec.schedule %q in %s cannot be understood: %s",
			o.Schedule.Spec.Schedule, o.Schedule.Spec.TimeZone, o.Invalid))
		status.Timetable, status.NextScheduleTime = "", nil
		return
	}
	if o.Schedule.Spec.State == v1alpha1.ScheduleSuspended {
		setReady(o, status, metav1.ConditionTrue, v1alpha1.ReasonSuspended,
			"no benchmark is started until spec.state is Enabled again; times that pass until then are not made up for"+underWayWords(status))
		status.Timetable, status.NextScheduleTime = "", nil
		return
	}
	if !begin(o, status) {
		consider(o, status, step)
	}
	if meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionOnTime) == nil {
		setOnTime(o, status, metav1.ConditionTrue, v1alpha1.ReasonNothingDue, "no benchmark was due yet")
	}
	step.Until = o.Timetable.next(status.ConsideredTime.Time)
	status.NextScheduleTime = &metav1.Time{Time: step.Until}
	noteScheduled(o, status)
}

// begin has times count from now when the timetable is another than before, or was
// suspended, and from its creation when the schedule is new. That is noted before
// anything comes of it: false when there was nothing to note.
func begin(o *Observation, status *v1alpha1.BenchmarkScheduleStatus) bool {
	if status.Timetable == o.Timetable.String() && status.ConsideredTime != nil {
		return false
	}
	from := metav1.NewTime(o.Now)
	if status.ObservedGeneration < 0 {
		from = o.Schedule.CreationTimestamp
	}
	status.Timetable, status.ConsideredTime = o.Timetable.String(), &from
	addMissed(status, 0)
	return true
}

// consider decides about the times that passed since the last one that was decided
// about. Only the latest of several is worth a benchmark: they are all the same.
func consider(o *Observation, status *v1alpha1.BenchmarkScheduleStatus, step *Step) {
	due, number := o.Timetable.passed(status.ConsideredTime.Time, o.Now)
	if number == 0 {
		return
	}
	status.ConsideredTime = &metav1.Time{Time: due}
	name := resources.ScheduledName(o.Schedule.Name, due)
	made := slices.ContainsFunc(o.Benchmarks, func(benchmark v1alpha1.Benchmark) bool { return benchmark.Name == name })
	switch {
	case made:
		noteStarted(o, status, step, due, number)
	case status.Active != nil:
		miss(o, status, step, v1alpha1.ReasonPreviousUnderWay, number, fmt.Sprintf(
			"%s: the benchmark %s was still under way", missedWords(due, number), status.Active.Name))
	case o.Now.Sub(due) > time.Duration(o.Schedule.Spec.StartingDeadlineSeconds)*time.Second:
		miss(o, status, step, v1alpha1.ReasonDeadlinePassed, number, fmt.Sprintf(
			"%s: %s, and spec.startingDeadlineSeconds is %d", missedWords(due, number), whyLate(o, due), o.Schedule.Spec.StartingDeadlineSeconds))
	default:
		step.Start = &due
		noteStarted(o, status, step, due, number)
	}
}

// noteStarted notes the benchmark that is started, and that those before it are
// missed.
func noteStarted(o *Observation, status *v1alpha1.BenchmarkScheduleStatus, step *Step, due time.Time, number int) {
	status.LastScheduleTime = &metav1.Time{Time: due}
	name := resources.ScheduledName(o.Schedule.Name, due)
	words := fmt.Sprintf("the benchmark %s was started, which was due at %s", name, wording.Instant(due))
	step.tell(corev1.EventTypeNormal, v1alpha1.ReasonStarted, words)
	if number > 1 {
		earlier := fmt.Sprintf("%s earlier passed without one", atLeast(number-1, "time"))
		addMissed(status, number-1)
		step.tell(corev1.EventTypeWarning, v1alpha1.ReasonDeadlinePassed, fmt.Sprintf(
			"%s while the operator was away; the benchmark %s takes their place", earlier, name))
		words += "; " + earlier
	}
	setOnTime(o, status, metav1.ConditionTrue, v1alpha1.ReasonStarted, words)
}

// miss notes that no benchmark is started for times that passed.
func miss(
	o *Observation, status *v1alpha1.BenchmarkScheduleStatus, step *Step, reason string, number int, words string,
) {
	addMissed(status, number)
	step.tell(corev1.EventTypeWarning, reason, words)
	setOnTime(o, status, metav1.ConditionFalse, reason, words)
}

// whyLate says why a benchmark was not made when it was due.
func whyLate(o *Observation, due time.Time) string {
	ready := meta.FindStatusCondition(o.Schedule.Status.Conditions, v1alpha1.ConditionReady)
	if ready != nil && ready.Status == metav1.ConditionFalse && ready.Reason != v1alpha1.ReasonInvalidSchedule {
		return fmt.Sprintf("it could not be made, %s: %s", ready.Reason, wording.Quote(ready.Message))
	}
	return fmt.Sprintf("the operator came to it %s later", o.Now.Sub(due).Round(time.Second))
}

func addMissed(status *v1alpha1.BenchmarkScheduleStatus, number int) {
	total := int64(number)
	if status.MissedRuns != nil {
		total += *status.MissedRuns
	}
	status.MissedRuns = &total
}

// missedWords says which times were missed.
func missedWords(due time.Time, number int) string {
	if number == 1 {
		return fmt.Sprintf("no benchmark was started at %s", wording.Instant(due))
	}
	return fmt.Sprintf("no benchmark was started at %s, the last of which was %s", atLeast(number, "time"), wording.Instant(due))
}

// atLeast counts things as far as they are counted.
func atLeast(number int, thing string) string {
	if number >= maxCounted-1 {
		return "at least " + wording.Count(number, thing)
	}
	return wording.Count(number, thing)
}

func (s *Step) tell(kind, reason, words string) {
	s.News = append(s.News, News{Kind: kind, Reason: reason, Words: words})
}

// NoteMade notes the benchmark that was made for the step.
func NoteMade(o *Observation, status *v1alpha1.BenchmarkScheduleStatus, benchmark *v1alpha1.Benchmark, due time.Time) {
	status.Active = &v1alpha1.ActiveBenchmark{
		Name: benchmark.Name, UID: string(benchmark.UID), ScheduleTime: metav1.NewTime(due),
	}
	noteScheduled(o, status)
}

// noteScheduled says when the next benchmark is due.
func noteScheduled(o *Observation, status *v1alpha1.BenchmarkScheduleStatus) {
	words := fmt.Sprintf("the next benchmark is due at %s", wording.Instant(status.NextScheduleTime.Time)) + underWayWords(status)
	if considered := status.ConsideredTime.Time; considered.Sub(o.Now) > time.Minute {
		words += fmt.Sprintf("; the clock was put back: times up to %s are done with", wording.Instant(considered))
	}
	setReady(o, status, metav1.ConditionTrue, v1alpha1.ReasonScheduled, words)
}

// underWayWords say which benchmark is under way; empty when none is.
func underWayWords(status *v1alpha1.BenchmarkScheduleStatus) string {
	if status.Active == nil {
		return ""
	}
	return fmt.Sprintf("; %s is under way", status.Active.Name)
}
