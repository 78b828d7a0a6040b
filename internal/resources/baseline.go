// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	volumeBaseline = "baseline"
	baselineDir    = "/var/lib/shardyard-baseline"
)

// earlierResult is the result that a benchmark is compared with; nil for none.
func earlierResult(spec *v1alpha1.BenchmarkSpec) *v1alpha1.BenchmarkArtifact {
	if len(spec.Variants) > 0 || spec.Baseline == nil {
		return nil
	}
	return spec.Baseline.Artifact
}

// mountBaseline gives a pod the volume of an earlier result, to read, if there is one.
// Only the judge reads it. A recorder has it because the volume of the records is made
// where the first pod that has it runs, and the judge needs both in one place.
func mountBaseline(pod *corev1.Pod, benchmark *v1alpha1.Benchmark) {
	earlier := earlierResult(&benchmark.Spec)
	if earlier == nil {
		return
	}
	pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts,
		corev1.VolumeMount{Name: volumeBaseline, MountPath: baselineDir, ReadOnly: true})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: volumeBaseline,
		VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: earlier.ClaimName,
		}},
	})
}

// baselineArguments tell the judge where the earlier result is, and what it is called.
func baselineArguments(benchmark *v1alpha1.Benchmark) []string {
	earlier := earlierResult(&benchmark.Spec)
	if earlier == nil {
		return nil
	}
	return []string{"--baseline=" + path.Join(baselineDir, earlier.Path), "--baseline-name=" + earlier.ClaimName}
}
