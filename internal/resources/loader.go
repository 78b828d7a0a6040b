// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
)

const (
	// ContainerLoader is the container of a recorder's pod that runs loaders.
	ContainerLoader = "loader"
	// containerTools gives it the program that the recorder asks.
	containerTools = "tools"

	volumeGenesis = "genesis"
	volumeTools   = "tools"
	volumeSocket  = "socket"
	genesisDir    = "/etc/shardyard-genesis"
	toolsDir      = "/opt/shardyard"
	socketDir     = "/run/shardyard"
	// shardnodePath is where images of nodes have the node program.
	shardnodePath = "/usr/local/bin/shardnode"
)

var (
	operatorPath = path.Join(toolsDir, "operator")
	loaderSocket = path.Join(socketDir, "loader.sock")
)

// SentByUsers says whether users send the load of a benchmark, whom its recorders have
// send it.
func SentByUsers(benchmark *v1alpha1.Benchmark) bool { return benchmark.Spec.Load.OpenLoop != nil }

// LoadBegunByRecorder says whether the recorders of a benchmark begin its load, and
// not the operator.
func LoadBegunByRecorder(benchmark *v1alpha1.Benchmark) bool {
	return Steered(benchmark) || SentByUsers(benchmark)
}

// addLoader gives a recorder a container beside it that runs loaders, of the image of
// the nodes, for as long as the recorder runs. The program that the recorder asks for
// them is the operator's, and is put where that container has it. Loaders sign with
// the accounts of genesis, which follow from its document: there are no other keys.
func addLoader(pod *corev1.Pod, benchmark *v1alpha1.Benchmark, inputs RecorderInputs) {
	network := &v1alpha1.ShardNetwork{Spec: benchmark.Spec.Network.Template.Spec}
	recorder := &pod.Spec.Containers[0]
	recorder.Args = append(recorder.Args, "--loader="+loaderSocket)
	recorder.VolumeMounts = append(recorder.VolumeMounts, corev1.VolumeMount{Name: volumeSocket, MountPath: socketDir})
	pod.Spec.InitContainers = append(pod.Spec.InitContainers,
		corev1.Container{
			Name:                     containerTools,
			Image:                    inputs.Image,
			Args:                     []string{"copy-program", "--to=" + operatorPath},
			Resources:                *recorder.Resources.DeepCopy(),
			VolumeMounts:             []corev1.VolumeMount{{Name: volumeTools, MountPath: toolsDir}},
			SecurityContext:          restrictedContainer(),
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		},
		corev1.Container{
			Name:            ContainerLoader,
			Image:           inputs.NodeImage,
			ImagePullPolicy: corev1.PullPolicy(network.Spec.Node.ImagePullPolicy),
			Command:         []string{operatorPath},
			Args: []string{
				"serve-loader",
				"--socket=" + loaderSocket,
				"--shardnode=" + shardnodePath,
				"--genesis=" + path.Join(genesisDir, nodeconfig.DefaultFiles.Genesis),
			},
			// It starts before the recorder, and ends after it. One that is started again
			// runs no loader that anybody waits for.
			RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
				},
				// It takes as many processors as there are, and says when they were too few.
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Gi")},
			},
			// The node's runtime wants a folder of its own, though loaders keep nothing there.
			Env: []corev1.EnvVar{{Name: "TMPDIR", Value: socketDir}},
			VolumeMounts: []corev1.VolumeMount{
				{Name: volumeTools, MountPath: toolsDir, ReadOnly: true},
				{Name: volumeGenesis, MountPath: genesisDir, ReadOnly: true},
				{Name: volumeSocket, MountPath: socketDir},
			},
			SecurityContext:          restrictedContainer(),
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		})
	pod.Spec.ImagePullSecrets = pullSecrets(network)
	pod.Spec.Volumes = append(pod.Spec.Volumes, loaderVolumes(NetworkOf(benchmark))...)
}

// loaderVolumes are what a loader reads, and where it is asked.
func loaderVolumes(network string) []corev1.Volume {
	folder := func(name, size string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse(size))},
		}}
	}
	return []corev1.Volume{
		folder(volumeTools, "512Mi"),
		folder(volumeSocket, "1Mi"),
		{Name: volumeGenesis, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: GenesisName(network)},
			Items:                []corev1.KeyToPath{{Key: nodeconfig.DefaultFiles.Genesis, Path: nodeconfig.DefaultFiles.Genesis}},
		}}},
	}
}
