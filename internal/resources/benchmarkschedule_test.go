// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

func TestNamesOfScheduledBenchmarks(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("", 3600)
	due := time.Date(2026, time.November, 21, 2, 30, 0, 0, berlin)
	name := resources.ScheduledName("nightly", due)
	if name != "nightly-29920410" || resources.ScheduledName("nightly", due.UTC()) != name {
		t.Errorf("the name is %s", name)
	}
	if got, ok := resources.ScheduledTime("nightly", name); !ok || !got.Equal(due) {
		t.Errorf("the time of %s is %s, want %s", name, got, due)
	}
	for _, other := range []string{"nightly", "nightly-", "nightly-29920410-s0", "nightly-029920410", "nightly-+29920410", "weekly-29920410"} {
		if got, ok := resources.ScheduledTime("nightly", other); ok {
			t.Errorf("%s is taken for the benchmark of %s", other, got)
		}
	}
	// Of two schedules, one of which has the name of the other's benchmarks.
	if _, ok := resources.ScheduledTime("nightly", "nightly-1-29920410"); ok {
		t.Error("the benchmark of nightly-1 is taken for one of nightly")
	}
}

func TestAScheduledBenchmark(t *testing.T) {
	t.Parallel()
	schedule := &v1alpha1.BenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "chains", Name: "nightly", UID: "uid"}}
	schedule.Spec.Template.Metadata = v1alpha1.BenchmarkTemplateMetadata{
		Labels:      map[string]v1alpha1.LabelValue{"team": "protocol", resources.LabelManagedBy: "me"},
		Annotations: map[string]v1alpha1.AnnotationValue{"why": "to see"},
	}
	schedule.Spec.Template.Spec.DurationSeconds = 30
	benchmark := resources.NewScheduledBenchmark(schedule, time.Unix(0, 0), nil)
	for key, want := range map[string]string{
		"team": "protocol", resources.LabelManagedBy: resources.ManagedBy, resources.LabelBenchmarkSchedule: "nightly",
	} {
		if got := benchmark.Labels[key]; got != want {
			t.Errorf("the label %s is %q, want %q", key, got, want)
		}
	}
	if benchmark.Annotations["why"] != "to see" || benchmark.Namespace != "chains" || benchmark.Name != "nightly-0" {
		t.Errorf("the benchmark is %+v", benchmark.ObjectMeta)
	}
	if !metav1.IsControlledBy(benchmark, schedule) || benchmark.Spec.DurationSeconds != 30 {
		t.Errorf("the benchmark is %+v", benchmark)
	}
}
