// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/api/v1alpha1"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
)

// reasonDeleted is that of an event about a benchmark that is gone before its time.
const reasonDeleted = "Deleted"

// noteEnded notes what benchmarks came to, in the order in which they were due: false
// when there is nothing new.
func noteEnded(o *Observation, status *v1alpha1.BenchmarkScheduleStatus, step *Step) bool {
	noted := false
	for _, benchmark := range endedBenchmarks(o) {
		due, _ := resources.ScheduledTime(o.Schedule.Name, benchmark.Name)
		if listed(status, benchmark.Name, due) {
			continue
		}
		noted = true
		entry := historyEntry(benchmark, due)
		status.History = append(status.History, entry)
		slices.SortStableFunc(status.History, func(a, b v1alpha1.ScheduledBenchmark) int {
			return b.ScheduleTime.Compare(a.ScheduleTime.Time)
		})
		status.History = status.History[:min(len(status.History), maxHistory)]
		status.LastResult = status.History[0].DeepCopy()
		kind := corev1.EventTypeWarning
		if entry.Phase == v1alpha1.BenchmarkSucceeded {
			kind = corev1.EventTypeNormal
			if entry.EndTime != nil && (status.LastSuccessfulTime == nil || status.LastSuccessfulTime.Before(entry.EndTime)) {
				status.LastSuccessfulTime = entry.EndTime.DeepCopy()
			}
		}
		step.tell(kind, string(entry.Phase), fmt.Sprintf("%s: %s", benchmark.Name, entry.Message))
		if status.Active != nil && status.Active.UID == string(benchmark.UID) {
			status.Active = nil
		}
	}
	return noted
}

// listed says whether a status has what a benchmark came to, or had it while there
// was room.
func listed(status *v1alpha1.BenchmarkScheduleStatus, name string, due time.Time) bool {
	if slices.ContainsFunc(status.History, func(entry v1alpha1.ScheduledBenchmark) bool { return entry.Name == name }) {
		return true
	}
	return len(status.History) == maxHistory && due.Before(status.History[maxHistory-1].ScheduleTime.Time)
}

// historyEntry is what a status keeps of a benchmark that ended.
func historyEntry(benchmark *v1alpha1.Benchmark, due time.Time) v1alpha1.ScheduledBenchmark {
	from := &benchmark.Status
	entry := v1alpha1.ScheduledBenchmark{
		Name: benchmark.Name, ScheduleTime: metav1.NewTime(due), EndTime: from.EndTime, Phase: from.Phase,
		RunsSummary: from.RunsSummary, TransfersPerSecond: from.TransfersPerSecond,
	}
	if ready := meta.FindStatusCondition(from.Conditions, v1alpha1.ConditionReady); ready != nil {
		entry.Reason, entry.Message = ready.Reason, wording.Shorten(ready.Message)
	}
	for i := range from.Figures {
		switch figure := &from.Figures[i]; figure.Figure {
		case v1alpha1.FigureBlockTimeMilliseconds:
			entry.BlockTimeMilliseconds = figure.Value
		case v1alpha1.FigureCPUMicrosecondsPerTransfer:
			entry.CPUMicrosecondsPerTransfer = figure.Value
		}
	}
	return *entry.DeepCopy()
}

// noteActive notes which benchmark is under way. One that is being deleted is, until
// it is gone: what it made may still run.
func noteActive(o *Observation, status *v1alpha1.BenchmarkScheduleStatus, step *Step) {
	before := status.Active
	status.Active = nil
	var latest time.Time
	for i := range o.Benchmarks {
		benchmark := &o.Benchmarks[i]
		due, ok := resources.ScheduledTime(o.Schedule.Name, benchmark.Name)
		if !ok || benchmarkpolicy.Ended(benchmark.Status.Phase) || status.Active != nil && due.Before(latest) {
			continue
		}
		latest, status.Active = due, &v1alpha1.ActiveBenchmark{
			Name: benchmark.Name, UID: string(benchmark.UID), ScheduleTime: metav1.NewTime(due),
		}
	}
	gone := func() bool {
		return !slices.ContainsFunc(o.Benchmarks, func(benchmark v1alpha1.Benchmark) bool { return string(benchmark.UID) == before.UID })
	}
	if before != nil && gone() {
		step.tell(corev1.EventTypeWarning, reasonDeleted, fmt.Sprintf(
			"the benchmark %s was deleted, and what it would have come to is not known; it is not made again", before.Name))
	}
}

// LastSucceeded is the result of the latest benchmark of a schedule that succeeded and
// is kept; nil when there is none.
func LastSucceeded(o *Observation) *v1alpha1.BenchmarkArtifact {
	var latest *v1alpha1.BenchmarkArtifact
	var latestDue time.Time
	for i := range o.Benchmarks {
		benchmark := &o.Benchmarks[i]
		due, ours := resources.ScheduledTime(o.Schedule.Name, benchmark.Name)
		if ours && benchmark.DeletionTimestamp == nil && benchmark.Status.Phase == v1alpha1.BenchmarkSucceeded &&
			benchmark.Status.Artifact != nil && due.After(latestDue) {
			latest, latestDue = benchmark.Status.Artifact, due
		}
	}
	return latest
}

// surplus are the benchmarks above the limits, the oldest ones: of those that
// succeeded, and of all others, which are worth looking at for longer. Only what the
// status lists already is let go of.
func surplus(o *Observation) []*v1alpha1.Benchmark {
	var succeeded, others []*v1alpha1.Benchmark
	for _, benchmark := range endedBenchmarks(o) {
		due, _ := resources.ScheduledTime(o.Schedule.Name, benchmark.Name)
		switch {
		case benchmark.DeletionTimestamp != nil || !listed(&o.Schedule.Status, benchmark.Name, due):
		case benchmark.Status.Phase == v1alpha1.BenchmarkSucceeded:
			succeeded = append(succeeded, benchmark)
		default:
			others = append(others, benchmark)
		}
	}
	spec := &o.Schedule.Spec
	return append(above(succeeded, spec.SuccessfulHistoryLimit), above(others, spec.FailedHistoryLimit)...)
}

// above are the first of benchmarks, all but as many as the limit says.
func above(benchmarks []*v1alpha1.Benchmark, limit *int32) []*v1alpha1.Benchmark {
	if limit == nil {
		return nil
	}
	return benchmarks[:max(0, len(benchmarks)-int(*limit))]
}

// endedBenchmarks are the benchmarks of a schedule that ended, in the order in which they were
// due.
func endedBenchmarks(o *Observation) []*v1alpha1.Benchmark {
	var found []*v1alpha1.Benchmark
	due := map[types.UID]time.Time{}
	for i := range o.Benchmarks {
		benchmark := &o.Benchmarks[i]
		at, ok := resources.ScheduledTime(o.Schedule.Name, benchmark.Name)
		if ok && benchmarkpolicy.Ended(benchmark.Status.Phase) {
			found, due[benchmark.UID] = append(found, benchmark), at
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.Benchmark) int { return due[a.UID].Compare(due[b.UID]) })
	return found
}
