// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// LabelLoad is the label of a network that carries the load of a benchmark's run, and
	// says who tells its nodes that load when that is not the operator.
	LabelLoad = "shardyard.dev/load"
	// LoadByRecorder is the value of LabelLoad when the recorder of the run does.
	LoadByRecorder = "recorder"

	volumeAdmin = "admin"
	adminDir    = "/etc/shardyard-admin"
	volumePeers = "peers"
	peersDir    = "/etc/shardyard-peers"
)

// SteeringPolicyName is the NetworkPolicy by which the recorders of a benchmark reach
// the admin API of its nodes.
func SteeringPolicyName(benchmark string) string { return benchmark + "-steering" }

// Steered says whether the recorders of a benchmark tell nodes their load: the
// controller of a closed loop, and a search, run beside the load, somebody has to wait
// until transfers are signed that are signed before, and the spec of a network that
// somebody else made is left as it is.
func Steered(benchmark *v1alpha1.Benchmark) bool {
	load := &benchmark.Spec.Load
	return load.ClosedLoop != nil || load.Search != nil || load.Signing == v1alpha1.SigningBefore || benchmark.Spec.Network.Name != ""
}

// LoadedByRecorder says whether the load of a network that was made for a run is told
// by the recorder of the run, and not by the operator. Of a network that somebody made by hand it is not,
// whatever its labels say, nor of one whose spec has a load.
func LoadedByRecorder(network *v1alpha1.ShardNetwork) bool {
	_, made := RunNetworkOwner(network)
	return made && network.Spec.Load == nil && network.Labels[LabelLoad] == LoadByRecorder
}

// steer gives the recorder of a benchmark what it takes to tell the nodes of its run
// their load, and nothing that it does not: the token of their admin API, and the
// document that says by which key each is known.
func steer(pod *corev1.Pod, network string) {
	container := &pod.Spec.Containers[0]
	container.Args = append(container.Args,
		"--admin-token="+path.Join(adminDir, nodeconfig.DefaultFiles.AdminToken),
		"--genesis="+path.Join(adminDir, nodeconfig.DefaultFiles.Genesis),
	)
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volumeAdmin, MountPath: adminDir, ReadOnly: true})
	only := func(file string) []corev1.KeyToPath { return []corev1.KeyToPath{{Key: file, Path: file}} }
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: volumeAdmin,
		VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: ptr.To[int32](0o440),
			Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{
					LocalObjectReference: corev1.LocalObjectReference{Name: AdminTokenName(network)},
					Items:                only(nodeconfig.DefaultFiles.AdminToken),
				}},
				{ConfigMap: &corev1.ConfigMapProjection{
					LocalObjectReference: corev1.LocalObjectReference{Name: GenesisName(network)},
					Items:                only(nodeconfig.DefaultFiles.Genesis),
				}},
			},
		}},
	})
}

// knowPeers gives a pod that tells all nodes something, and not producers alone, what says
// by which keys those are known that the genesis document does not name. The name of the
// document follows from its content, so the pod has all that the ConfigMap holds.
func knowPeers(pod *corev1.Pod, network string) {
	container := &pod.Spec.Containers[0]
	container.Args = append(container.Args, "--peers="+peersDir)
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volumePeers, MountPath: peersDir, ReadOnly: true})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: volumePeers,
		VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: PeersName(network)},
		}},
	})
}

// newSteeringPolicy lets the recorders of a benchmark, and none of its other pods, in
// to the admin API of its nodes. It adds to the policy of the network, which lets in
// the operator alone.
func newSteeringPolicy(benchmark *v1alpha1.Benchmark, ports topology.Ports) *networkingv1.NetworkPolicy {
	recorders := &metav1.LabelSelector{
		MatchLabels:      recorderSelector(benchmark.Name),
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: LabelRun, Operator: metav1.LabelSelectorOpExists}},
	}
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: ofBenchmark(benchmark, SteeringPolicyName(benchmark.Name)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: networkSelector(NetworkOf(benchmark))},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From:  []networkingv1.NetworkPolicyPeer{{PodSelector: recorders}},
				Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.Admin)},
			}},
		},
	}
}
