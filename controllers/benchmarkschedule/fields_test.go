// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	schedulepolicy "github.com/shardyard/shardyard/internal/policy/benchmarkschedule"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/fields"
)

const (
	// inTimes are the times that benchmarks are made for.
	inTimes fields.Effect = "times"
	// inMissed are those that an operator that was away makes none for.
	inMissed fields.Effect = "missed"
	// inHistory is which benchmarks are kept.
	inHistory fields.Effect = "history"
	// inBenchmark is the benchmark that is made.
	inBenchmark fields.Effect = "benchmark"
)

// ofTimes are changes of when benchmarks are due.
var ofTimes = []fields.Effect{inMissed, inTimes}

// schedules are all fields of a BenchmarkSchedule, and what they change.
var schedules = &fields.Kind[*v1alpha1.BenchmarkSchedule]{
	Definition: "shardyard.dev_benchmarkschedules.yaml",
	Manifest: `
apiVersion: shardyard.dev/v1alpha1
kind: BenchmarkSchedule
metadata:
  name: whole
spec:
  schedule: 0 3 * * *
  timeZone: Europe/Berlin
  template:
    metadata: {labels: {team: chain}, annotations: {example.com/owner: somebody}}
    spec:
      network:
        template:
          spec:
            shards: 1
            producersPerShard: 1
            regions: [{name: here, nodes: 1}]
            genesis: {accountsPerShard: 10}
      load: {profile: Constant, constant: {transfersPerSecond: 100}}
      durationSeconds: 30
`,
	Read: func(_ *testing.T, content []byte) (*v1alpha1.BenchmarkSchedule, error) {
		return manifest.ParseBenchmarkSchedule(content)
	},
	Spec:    func(schedule *v1alpha1.BenchmarkSchedule) any { return schedule.Spec },
	Effects: effectsOf,
	// A Benchmark has a table of its own.
	Parts: []string{"spec.template.spec"},
	Changes: map[string]fields.Change{
		"spec.schedule":                      {To: "0 4 * * *", In: ofTimes},
		"spec.timeZone":                      {To: "Etc/UTC", In: ofTimes},
		"spec.state":                         {To: "Suspended", In: ofTimes},
		"spec.startingDeadlineSeconds":       {To: 60, In: []fields.Effect{inMissed}},
		"spec.successfulHistoryLimit":        {To: 1, In: []fields.Effect{inHistory}},
		"spec.failedHistoryLimit":            {To: 1, In: []fields.Effect{inHistory}},
		"spec.template.metadata.labels":      {To: fields.Object{"team": "other"}, In: []fields.Effect{inBenchmark}},
		"spec.template.metadata.annotations": {To: fields.Object{"example.com/owner": "other"}, In: []fields.Effect{inBenchmark}},
	},
}

// made is when the schedules were made whose effects are compared.
var made = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// effectsOf is all that the operator makes of a schedule.
func effectsOf(t *testing.T, schedule *v1alpha1.BenchmarkSchedule) map[fields.Effect]string {
	t.Helper()
	schedule.CreationTimestamp = metav1.NewTime(made)
	// It looks often, or only half an hour after most times.
	often, seldom := started(t, schedule, time.Minute), started(t, schedule, 90*time.Minute)
	return map[fields.Effect]string{
		inTimes: fields.Text(t, often), inMissed: fields.Text(t, seldom), inHistory: fields.Text(t, removed(t, schedule)),
		inBenchmark: fields.Text(t, resources.NewScheduledBenchmark(schedule, made, nil).ObjectMeta),
	}
}

// observed is a schedule at a time.
func observed(t *testing.T, schedule *v1alpha1.BenchmarkSchedule, now time.Time) *schedulepolicy.Observation {
	t.Helper()
	location, err := time.LoadLocation(schedule.Spec.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	timetable, err := schedulepolicy.NewTimetable(schedule.Spec.Schedule, location, now)
	if err != nil {
		t.Fatal(err)
	}
	return &schedulepolicy.Observation{Schedule: schedule, Timetable: timetable, Now: now}
}

// started are the times for which benchmarks are made in three days, by an operator
// that looks now and then.
func started(t *testing.T, schedule *v1alpha1.BenchmarkSchedule, looks time.Duration) []time.Time {
	t.Helper()
	var found []time.Time
	status := &v1alpha1.BenchmarkScheduleStatus{ObservedGeneration: -1}
	for elapsed := time.Duration(0); elapsed < 72*time.Hour; elapsed += looks {
		step := schedulepolicy.Advance(observed(t, schedule, made.Add(elapsed)), status)
		if step.Start != nil {
			found = append(found, *step.Start)
		}
		status.ObservedGeneration, status.Active = 1, nil
	}
	return found
}

// removed are the benchmarks that are not kept, of many that ended.
func removed(t *testing.T, schedule *v1alpha1.BenchmarkSchedule) []string {
	t.Helper()
	schedule = schedule.DeepCopy()
	observation := observed(t, schedule, made.Add(24*time.Hour))
	for i, phase := range []v1alpha1.BenchmarkPhase{
		v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkRegressed,
		v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkRegressed,
	} {
		due := made.Add(time.Duration(i) * time.Hour)
		benchmark := resources.NewScheduledBenchmark(schedule, due, nil)
		benchmark.UID, benchmark.Status.Phase = types.UID(fmt.Sprint(i)), phase
		observation.Benchmarks = append(observation.Benchmarks, *benchmark)
		schedule.Status.History = append(schedule.Status.History, v1alpha1.ScheduledBenchmark{
			Name: benchmark.Name, ScheduleTime: metav1.NewTime(due), Phase: phase,
		})
	}
	var names []string
	for _, benchmark := range schedulepolicy.Advance(observation, schedule.Status.DeepCopy()).Remove {
		names = append(names, benchmark.Name)
	}
	return names
}

// Every field of the API does something.
func TestEveryFieldHasItsEffect(t *testing.T) {
	t.Parallel()
	schedules.CheckEffects(t)
}

// Every field that has a wrong value is named by the error about it.
func TestEveryFieldIsNamedWhereItIsWrong(t *testing.T) {
	t.Parallel()
	schedules.CheckErrors(t)
}

// What a schedule makes is the benchmark of its template, with all of its fields.
func TestTheBenchmarkIsThatOfTheTemplate(t *testing.T) {
	t.Parallel()
	schedule := &v1alpha1.BenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Name: "whole"}}
	fields.Fill(t, &schedule.Spec.Template.Spec)
	want := fields.Text(t, schedule.Spec.Template.Spec)
	if got := fields.Text(t, resources.NewScheduledBenchmark(schedule, made, nil).Spec); got != want {
		t.Errorf("the benchmark is\n%s\nwant\n%s", got, want)
	}
}
