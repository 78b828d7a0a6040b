// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	// ReaderPort is where a reader shows the result, to nobody but its own pod.
	ReaderPort = 8080
	// readerSeconds is how long a reader stays at most.
	readerSeconds = 900
)

// artifactDir is where the pods of a benchmark have its result.
var artifactDir = path.Join(recordsDir, ArtifactPath)

// places are where recorders and the judge find and leave things.
var places = []string{
	"--benchmark=" + path.Join(benchmarkDir, benchmarkFile),
	"--records=" + recordsDir,
	"--summary=" + corev1.TerminationMessagePathDefault,
}

// RecorderInputs are what the pods of a benchmark need besides it.
type RecorderInputs struct {
	// Image is the operator's.
	Image string
	// ClusterDomain is the DNS domain of the cluster.
	ClusterDomain string
	// NodeImage is what the nodes of the run's network are made of, and NodeImageID what
	// that name came to on their machines, for the record; empty is not known. Loaders are
	// made of the same.
	NodeImage, NodeImageID string
	// Machines are those that the nodes are on, as JSON for the record; empty is not known.
	Machines string
	// MinBlockTimeMilliseconds is that of a network that the benchmark names; 0 is not known.
	MinBlockTimeMilliseconds int32
}

// NewRecorder is the pod that records a run: beside the load, never in the
// operator. It is a bare pod, which runs once at most: whatever made it again
// would record something else.
func NewRecorder(benchmark *v1alpha1.Benchmark, number int32, inputs RecorderInputs) *corev1.Pod {
	arguments := []string{
		"record-run",
		"--run=" + strconv.Itoa(int(number)),
		"--cluster-domain=" + inputs.ClusterDomain,
		"--node-image=" + inputs.NodeImage,
		"--node-image-id=" + inputs.NodeImageID,
	}
	if inputs.Machines != "" {
		arguments = append(arguments, "--machines="+inputs.Machines)
	}
	pod := benchmarkPod(benchmark, RecorderName(benchmark.Name, number), inputs.Image, append(arguments, places...))
	setMemory(pod, rowsOf(&benchmark.Spec, 1, inputs.MinBlockTimeMilliseconds))
	pod.Labels[LabelRun] = runLabel(number)
	mountBaseline(pod, benchmark)
	mountNetwork(pod, benchmark)
	if Steered(benchmark) {
		steer(pod, NetworkOf(benchmark))
	}
	if SentByUsers(benchmark) {
		addLoader(pod, benchmark, inputs)
	}
	return pod
}

// NewJudge is the pod that makes the result of a benchmark from its records.
func NewJudge(benchmark *v1alpha1.Benchmark, inputs RecorderInputs) *corev1.Pod {
	arguments := slices.Concat(
		[]string{"judge-runs", "--artifact=" + artifactDir, "--image=" + inputs.Image}, places, baselineArguments(benchmark))
	pod := benchmarkPod(benchmark, JudgeName(benchmark.Name), inputs.Image, arguments)
	held := allRows(&benchmark.Spec, inputs.MinBlockTimeMilliseconds)
	if earlierResult(&benchmark.Spec) != nil {
		// What the runs are compared with may well be of as many.
		held = held.twice()
	}
	setMemory(pod, held)
	mountBaseline(pod, benchmark)
	mountNetwork(pod, benchmark)
	return pod
}

// NewReader is a pod that shows the result of a benchmark to whoever forwards a port
// to it. It ends by itself should nobody delete it.
func NewReader(benchmark *v1alpha1.Benchmark, image string) *corev1.Pod {
	pod := benchmarkPod(benchmark, "", image, []string{
		"serve-artifact",
		"--artifact=" + artifactDir,
		"--listen=" + net.JoinHostPort("127.0.0.1", strconv.Itoa(ReaderPort)),
	})
	pod.GenerateName = benchmark.Name + "-reader-"
	pod.Spec.ActiveDeadlineSeconds = ptr.To[int64](readerSeconds)
	return pod
}

// verbatim are arguments as the program is to have them: a machine would put the value of a
// variable of the container, which may be a secret, in the place of $(NAME).
func verbatim(arguments []string) []string {
	escaped := make([]string, len(arguments))
	for i, argument := range arguments {
		escaped[i] = strings.ReplaceAll(argument, "$", "$$")
	}
	return escaped
}

// benchmarkPod is a pod of a benchmark. It says what it found in its termination
// message, and has no rights in the cluster.
func benchmarkPod(benchmark *v1alpha1.Benchmark, name, image string, arguments []string) *corev1.Pod {
	meta := ofBenchmark(benchmark, name)
	meta.Labels[LabelName] = NameRecorder
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta,
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name:  NameRecorder,
				Image: image,
				Args:  verbatim(arguments),
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: rows{}.memory(memoryRequest),
					},
					Limits: corev1.ResourceList{corev1.ResourceMemory: rows{}.memory(memoryLimit)},
				},
				VolumeMounts: []corev1.VolumeMount{
					{Name: volumeBenchmark, MountPath: benchmarkDir, ReadOnly: true},
					{Name: volumeRecords, MountPath: recordsDir},
				},
				SecurityContext:          restrictedContainer(),
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			}},
			Volumes: []corev1.Volume{
				{Name: volumeBenchmark, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: BenchmarkConfigName(benchmark.Name)},
				}}},
				{Name: volumeRecords, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
					ClaimName: RecordsName(benchmark.Name),
				}}},
			},
			RestartPolicy:                corev1.RestartPolicyNever,
			SecurityContext:              restrictedPod(),
			AutomountServiceAccountToken: ptr.To(false),
			EnableServiceLinks:           ptr.To(false),
		},
	}
}

// setMemory gives a pod of a benchmark the memory for records of so many rows.
func setMemory(pod *corev1.Pod, held rows) {
	container := &pod.Spec.Containers[0]
	container.Resources.Requests[corev1.ResourceMemory] = held.memory(memoryRequest)
	container.Resources.Limits[corev1.ResourceMemory] = held.memory(memoryLimit)
}

// restrictedPod is who the containers of a pod are that works beside the nodes.
func restrictedPod() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot:   ptr.To(true),
		RunAsUser:      ptr.To[int64](nodeUser),
		RunAsGroup:     ptr.To[int64](nodeUser),
		FSGroup:        ptr.To[int64](nodeUser),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}
