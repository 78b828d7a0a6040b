// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// Of each second, a pod has 12 KiB of memory and the disk 4, and of each block 1024 and 512
// bytes, up to the next mebibyte of memory and gibibyte of disk.
func TestRoomForRecords(t *testing.T) {
	t.Parallel()
	const mebibyte, base = 1 << 20, 64
	for name, test := range map[string]struct {
		edit                            func(*v1alpha1.BenchmarkSpec)
		recorder, judge, uploader, disk int64
	}{
		"a run of some seconds": {func(*v1alpha1.BenchmarkSpec) {}, 1, 1, 1, 1},
		// 524,288 seconds and 2,097,152 blocks.
		"a run of six days": {func(spec *v1alpha1.BenchmarkSpec) { spec.DurationSeconds = 524_288 }, 8192, 8192, 8192, 3},
		// 4,096 seconds and 16,384 blocks.
		"a long run": {func(spec *v1alpha1.BenchmarkSpec) { spec.DurationSeconds = 4096 }, 64, 64, 64, 1},
		"several": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds, spec.Repetitions = 4096, 5
		}, 64, 320, 320, 1},
		"of two variants": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds, spec.Repetitions = 4096, 5
			spec.Variants = []v1alpha1.BenchmarkVariant{{Name: "before"}, {Name: "after"}}
		}, 64, 640, 640, 1},
		"beside an earlier result": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds = 4096
			spec.Baseline = &v1alpha1.BenchmarkBaseline{Artifact: &v1alpha1.BenchmarkArtifact{ClaimName: "last-records"}}
		}, 64, 128, 64, 1},
		"after a warm-up": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds, spec.WarmUpSeconds = 2048, ptr.To[int32](2048)
		}, 64, 64, 64, 1},
		"after a ramp": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds, spec.Load.Ramp = 2048, &v1alpha1.RampLoad{Steps: []v1alpha1.RampStep{{DurationSeconds: 2048}, {}}}
		}, 64, 64, 64, 1},
		"after a search": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds, spec.Load.Search = 2048, &v1alpha1.SearchLoad{MaxSearchSeconds: 2048}
		}, 64, 64, 64, 1},
		"of a closed loop": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds, spec.Load.ClosedLoop = 2048, &v1alpha1.ClosedLoopLoad{MaxSettleSeconds: 2048}
		}, 64, 64, 64, 1},
		"of an open loop of four steps": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds, spec.Load.OpenLoop = 1024, &v1alpha1.OpenLoopLoad{Steps: make([]v1alpha1.OpenLoopStep, 4)}
		}, 64, 64, 64, 1},
		// Of 262,144 blocks. Its disk is made before that is known.
		"of a network that is named": {func(spec *v1alpha1.BenchmarkSpec) {
			spec.DurationSeconds, spec.Network = 32_768, v1alpha1.BenchmarkNetwork{Name: "quickstart"}
		}, 640, 640, 640, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			benchmark := newBenchmark()
			benchmark.Spec.Repetitions = 1
			benchmark.Spec.Network.Template.Spec.Protocol.MinBlockTimeMilliseconds = 250
			test.edit(&benchmark.Spec)
			benchmark.Spec.Upload = &v1alpha1.BenchmarkUpload{URL: "s3://kept"}
			inputs := resources.RecorderInputs{MinBlockTimeMilliseconds: 125}
			for what, pod := range map[string]struct {
				made *corev1.Pod
				more int64
			}{
				"the recorder": {resources.NewRecorder(benchmark, 1, inputs), test.recorder},
				"the judge":    {resources.NewJudge(benchmark, inputs), test.judge},
				"the uploader": {resources.NewUploader(benchmark, inputs), test.uploader},
			} {
				memory := pod.made.Spec.Containers[0].Resources
				asked, most := memory.Requests.Memory().Value()/mebibyte, memory.Limits.Memory().Value()/mebibyte
				if asked != base+pod.more || most != 1024+pod.more {
					t.Errorf("%s asks for %d MiB, and has %d at most, want %d and %d", what, asked, most, base+pod.more, 1024+pod.more)
				}
			}
			objects, err := resources.BenchmarkObjects(benchmark, topology.DefaultPorts)
			if err != nil {
				t.Fatal(err)
			}
			size := objects[1].(*corev1.PersistentVolumeClaim).Spec.Resources.Requests.Storage().Value() / (1024 * mebibyte)
			if size != test.disk {
				t.Errorf("the disk has %d GiB, want %d", size, test.disk)
			}
		})
	}
}
