// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	// networkFile is the network that a benchmark names, in its ConfigMap.
	networkFile = "network.json"

	volumeNetwork = "network"
	networkDir    = "/etc/shardyard-network"
)

// BenchmarkNetworkName is the ConfigMap of the network that a benchmark names, for its
// pods.
func BenchmarkNetworkName(benchmark string) string { return benchmark + "-network" }

// NewNetworkConfig is the network that a benchmark names, as it was when the first run
// began: its pods read no other.
func NewNetworkConfig(benchmark *v1alpha1.Benchmark, network *v1alpha1.ShardNetwork) (*corev1.ConfigMap, error) {
	content, err := json.Marshal(&v1alpha1.ShardNetwork{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindShardNetwork},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: network.Namespace, Name: network.Name, UID: network.UID,
			Generation: network.Generation, CreationTimestamp: network.CreationTimestamp,
		},
		Spec: network.Spec,
	})
	if err != nil {
		return nil, fmt.Errorf("encode network: %w", err)
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: ofBenchmark(benchmark, BenchmarkNetworkName(benchmark.Name)),
		Immutable:  ptr.To(true),
		Data:       map[string]string{networkFile: string(content)},
	}, nil
}

// mountNetwork has a pod read the network that its benchmark names, if it does.
func mountNetwork(pod *corev1.Pod, benchmark *v1alpha1.Benchmark) {
	if benchmark.Spec.Network.Name == "" {
		return
	}
	container := &pod.Spec.Containers[0]
	container.Args = append(container.Args, "--network="+path.Join(networkDir, networkFile))
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volumeNetwork, MountPath: networkDir, ReadOnly: true})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: volumeNetwork,
		VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: BenchmarkNetworkName(benchmark.Name)},
		}},
	})
}
