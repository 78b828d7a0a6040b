// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// mountOf is how a pod mounts a claim; nil when it does not.
func mountOf(pod *corev1.Pod, claim string) *corev1.VolumeMount {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil || volume.PersistentVolumeClaim.ClaimName != claim {
			continue
		}
		mounts := pod.Spec.Containers[0].VolumeMounts
		if i := slices.IndexFunc(mounts, func(mount corev1.VolumeMount) bool { return mount.Name == volume.Name }); i >= 0 {
			return &mounts[i]
		}
	}
	return nil
}

// The judge reads the earlier result; a recorder has its volume so that the records
// come to be in the same place.
func TestTheBaselineOfPods(t *testing.T) {
	t.Parallel()
	benchmark := newBenchmark()
	benchmark.Spec.Baseline = &v1alpha1.BenchmarkBaseline{Artifact: &v1alpha1.BenchmarkArtifact{ClaimName: "last-records", Path: "artifact"}}
	inputs := resources.RecorderInputs{Image: "operator:test"}
	judge := resources.NewJudge(benchmark, inputs)
	for _, pod := range []*corev1.Pod{judge, resources.NewRecorder(benchmark, 1, inputs)} {
		if mount := mountOf(pod, "last-records"); mount == nil || !mount.ReadOnly {
			t.Errorf("%s mounts the baseline as %+v, want it to read", pod.Name, mount)
		}
		if own := mountOf(pod, "bench-records"); own == nil || own.ReadOnly {
			t.Errorf("%s mounts its own volume as %+v", pod.Name, own)
		}
	}
	for _, argument := range []string{"--baseline=/var/lib/shardyard-baseline/artifact", "--baseline-name=last-records"} {
		if !slices.Contains(judge.Spec.Containers[0].Args, argument) {
			t.Errorf("the judge is told %q, and not %s", judge.Spec.Containers[0].Args, argument)
		}
	}
	alone := resources.NewJudge(newBenchmark(), inputs)
	if len(alone.Spec.Volumes) != len(judge.Spec.Volumes)-1 || len(alone.Spec.Containers[0].Args) != len(judge.Spec.Containers[0].Args)-2 {
		t.Errorf("without a baseline, the judge is %+v", alone.Spec)
	}
}

// The first benchmark of a schedule has nothing to be compared with, and says so; the
// others have what they are given, unless the template says it, or has variants.
func TestTheBaselineOfScheduledBenchmarks(t *testing.T) {
	t.Parallel()
	named, last := &v1alpha1.BenchmarkArtifact{ClaimName: "named"}, &v1alpha1.BenchmarkArtifact{ClaimName: "last"}
	for name, test := range map[string]struct {
		edit func(*v1alpha1.BenchmarkSpec)
		last *v1alpha1.BenchmarkArtifact
		// want is the claim of the baseline; none for a benchmark without one.
		want string
	}{
		"the first":           {func(*v1alpha1.BenchmarkSpec) {}, nil, "none"},
		"a later one":         {func(*v1alpha1.BenchmarkSpec) {}, last, "last"},
		"one that is named":   {func(spec *v1alpha1.BenchmarkSpec) { spec.Baseline.Artifact = named }, last, "named"},
		"one of two variants": {func(spec *v1alpha1.BenchmarkSpec) { spec.Variants = make([]v1alpha1.BenchmarkVariant, 2) }, last, ""},
		"one that is not compared": {
			func(spec *v1alpha1.BenchmarkSpec) { spec.Baseline = nil }, last, "none",
		},
	} {
		schedule := &v1alpha1.BenchmarkSchedule{}
		schedule.Spec.Template.Spec.Baseline = &v1alpha1.BenchmarkBaseline{}
		test.edit(&schedule.Spec.Template.Spec)
		made, got := resources.NewScheduledBenchmark(schedule, time.Unix(0, 0), test.last), "none"
		if made.Spec.Baseline != nil {
			got = ""
			if artifact := made.Spec.Baseline.Artifact; artifact != nil {
				got = artifact.ClaimName
			}
		}
		if got != test.want {
			t.Errorf("%s is compared with %q, want %q", name, got, test.want)
		}
	}
}
