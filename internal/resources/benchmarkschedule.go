// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// LabelBenchmarkSchedule is the BenchmarkSchedule that a Benchmark belongs to.
const LabelBenchmarkSchedule = "shardyard.dev/benchmark-schedule"

// ScheduledName is the benchmark of a schedule that is due at a time. There is one
// name for a time, so that whoever makes it makes it once.
func ScheduledName(schedule string, due time.Time) string {
	return fmt.Sprintf("%s-%d", schedule, due.Unix()/int64(time.Minute/time.Second))
}

// ScheduledTime is when a benchmark of that name was due; false when it is none of
// the schedule's.
func ScheduledTime(schedule, benchmark string) (time.Time, bool) {
	digits, ok := strings.CutPrefix(benchmark, schedule+"-")
	if !ok {
		return time.Time{}, false
	}
	minutes, err := strconv.ParseInt(digits, 10, 64)
	due := time.Unix(minutes*int64(time.Minute/time.Second), 0).UTC()
	return due, err == nil && ScheduledName(schedule, due) == benchmark
}

// NewScheduledBenchmark is the benchmark of a schedule that is due at a time. It goes
// with the schedule. A template that says how to compare, and not with what, has it
// compared with the result of the last one that succeeded; without one, with nothing.
func NewScheduledBenchmark(
	schedule *v1alpha1.BenchmarkSchedule, due time.Time, last *v1alpha1.BenchmarkArtifact,
) *v1alpha1.Benchmark {
	template := &schedule.Spec.Template
	benchmark := &v1alpha1.Benchmark{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindBenchmark},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   schedule.Namespace,
			Name:        ScheduledName(schedule.Name, due),
			Labels:      map[string]string{},
			Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(schedule, v1alpha1.GroupVersion.WithKind(v1alpha1.KindBenchmarkSchedule)),
			},
		},
		Spec: *template.Spec.DeepCopy(),
	}
	if spec := &benchmark.Spec; spec.Baseline != nil && spec.Baseline.Artifact == nil && len(spec.Variants) == 0 {
		if spec.Baseline.Artifact = last.DeepCopy(); last == nil {
			spec.Baseline = nil
		}
	}
	for key, value := range template.Metadata.Labels {
		benchmark.Labels[key] = string(value)
	}
	for key, value := range template.Metadata.Annotations {
		benchmark.Annotations[key] = string(value)
	}
	benchmark.Labels[LabelManagedBy] = ManagedBy
	benchmark.Labels[LabelBenchmarkSchedule] = schedule.Name
	return benchmark
}
