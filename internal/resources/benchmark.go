// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// LabelBenchmark is the benchmark that an object belongs to. The recorders of a
	// benchmark do not have LabelNetwork: nothing that is about a network's nodes is
	// about them.
	LabelBenchmark = "shardyard.dev/benchmark"
	// LabelRun is the number of the run that an object belongs to.
	LabelRun = "shardyard.dev/run"
	// NameRecorder is the name, as in LabelName, of the pods of a benchmark.
	NameRecorder = "benchmark-recorder"

	// benchmarkFile is the benchmark in its ConfigMap.
	benchmarkFile = "benchmark.json"
	// ArtifactPath is the folder of the result, from the root of the claim.
	ArtifactPath = "artifact"

	volumeBenchmark = "benchmark"
	volumeRecords   = "records"
	benchmarkDir    = "/etc/shardyard"
	recordsDir      = "/var/lib/shardyard"
)

// BenchmarkConfigName is the ConfigMap of a benchmark, for its pods.
func BenchmarkConfigName(benchmark string) string { return benchmark + "-benchmark" }

// RecordsName is the volume claim of a benchmark's records and result.
func RecordsName(benchmark string) string { return benchmark + "-records" }

// RecorderName is the pod that records a run.
func RecorderName(benchmark string, number int32) string {
	return fmt.Sprintf("%s-recorder-%d", benchmark, number)
}

// JudgeName is the pod that makes the result of a benchmark.
func JudgeName(benchmark string) string { return benchmark + "-judge" }

// RecorderPolicyName is the NetworkPolicy of a benchmark's pods.
func RecorderPolicyName(benchmark string) string { return benchmark + "-recorder" }

// HTTPAddress is where others in the cluster reach the HTTP API of a validator,
// whether it is ready or not.
func HTTPAddress(network *v1alpha1.ShardNetwork, clusterDomain, validator string, ports topology.Ports) string {
	return net.JoinHostPort(podHost(network, clusterDomain, validator), strconv.Itoa(ports.HTTP))
}

// BenchmarkObjects are what the runs of a benchmark share.
func BenchmarkObjects(benchmark *v1alpha1.Benchmark, ports topology.Ports) ([]Object, error) {
	config, err := newBenchmarkConfig(benchmark)
	if err != nil {
		return nil, err
	}
	objects := []Object{config, newRecordsClaim(benchmark), newRecorderPolicy(benchmark, ports)}
	if Steered(benchmark) {
		objects = append(objects, newSteeringPolicy(benchmark, ports))
	}
	if benchmark.Spec.Upload != nil {
		objects = append(objects, newUploaderPolicy(benchmark))
	}
	return objects, nil
}

// NewRunNetwork is the network of a run, without load. Nothing of it stays when it
// is removed: the next run begins with another genesis and empty disks.
func NewRunNetwork(benchmark *v1alpha1.Benchmark, number int32, spec v1alpha1.ShardNetworkSpec) *v1alpha1.ShardNetwork {
	network := &v1alpha1.ShardNetwork{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindShardNetwork},
		ObjectMeta: ofBenchmark(benchmark, benchmark.Name),
		Spec:       *spec.DeepCopy(),
	}
	network.Labels[LabelRun] = runLabel(number)
	if Steered(benchmark) {
		network.Labels[LabelLoad] = LoadByRecorder
	}
	if network.Spec.Volume != nil {
		network.Spec.Volume.Retention = v1alpha1.VolumeRetentionDelete
	}
	return network
}

// RunOf says whether an object is of a run.
func RunOf(object metav1.Object, number int32) bool {
	return object.GetLabels()[LabelRun] == runLabel(number)
}

func runLabel(number int32) string { return strconv.Itoa(int(number)) }

// ofBenchmark is the metadata of an object that the cluster deletes with its
// benchmark.
func ofBenchmark(benchmark *v1alpha1.Benchmark, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: benchmark.Namespace,
		Name:      name,
		Labels: map[string]string{
			LabelInstance: benchmark.Name, LabelManagedBy: ManagedBy, LabelBenchmark: benchmark.Name,
		},
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(benchmark, v1alpha1.GroupVersion.WithKind(v1alpha1.KindBenchmark)),
		},
	}
}

// newBenchmarkConfig is the benchmark as its pods read it: its spec, and which very
// benchmark it is.
func newBenchmarkConfig(benchmark *v1alpha1.Benchmark) (*corev1.ConfigMap, error) {
	content, err := json.Marshal(&v1alpha1.Benchmark{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindBenchmark},
		ObjectMeta: metav1.ObjectMeta{Namespace: benchmark.Namespace, Name: benchmark.Name, UID: benchmark.UID},
		Spec:       benchmark.Spec,
	})
	if err != nil {
		return nil, fmt.Errorf("encode benchmark: %w", err)
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: ofBenchmark(benchmark, BenchmarkConfigName(benchmark.Name)),
		Immutable:  ptr.To(true),
		Data:       map[string]string{benchmarkFile: string(content)},
	}, nil
}

// newRecordsClaim is a volume of the cluster's default class, with room for the records of
// all runs and the result. One pod at a time has it.
func newRecordsClaim(benchmark *v1alpha1.Benchmark) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: ofBenchmark(benchmark, RecordsName(benchmark.Name)),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: allRows(&benchmark.Spec, leastBlockTimeMilliseconds).disk()},
			},
			VolumeMode: ptr.To(corev1.PersistentVolumeFilesystem),
		},
	}
}

// newRecorderPolicy closes the pods of a benchmark to everybody, and lets them reach
// the HTTP API of the run's network, its admin API where they steer the load, and names
// resolved.
func newRecorderPolicy(benchmark *v1alpha1.Benchmark, ports topology.Ports) *networkingv1.NetworkPolicy {
	reached := []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.HTTP)}
	if Steered(benchmark) {
		reached = append(reached, policyPort(corev1.ProtocolTCP, ports.Admin))
	}
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: ofBenchmark(benchmark, RecorderPolicyName(benchmark.Name)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: recorderSelector(benchmark.Name)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress: []networkingv1.NetworkPolicyEgressRule{
				{
					To:    []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: networkSelector(NetworkOf(benchmark))}}},
					Ports: reached,
				},
				nameResolution(),
			},
		},
	}
}

// recorderSelector selects the pods of a benchmark.
func recorderSelector(benchmark string) map[string]string {
	return map[string]string{LabelName: NameRecorder, LabelBenchmark: benchmark}
}
