// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// LabelBenchmarkUID is the very benchmark that a network carries the load of. Only
// together with it, LabelBenchmark of a network means anything.
const LabelBenchmarkUID = "shardyard.dev/benchmark-uid"

// NetworkOf is the name of the network that the runs of a benchmark are of.
func NetworkOf(benchmark *v1alpha1.Benchmark) string {
	return cmp.Or(benchmark.Spec.Network.Name, benchmark.Name)
}

// NewClaim says on a network that somebody else made that the recorder of a run tells
// its nodes their load. It sets labels alone, and is of the version of the network that
// was looked at: of two that claim one network at a time, one is refused.
func NewClaim(benchmark *v1alpha1.Benchmark, number int32, network *v1alpha1.ShardNetwork) *unstructured.Unstructured {
	claim := &unstructured.Unstructured{}
	claim.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindShardNetwork))
	claim.SetNamespace(network.Namespace)
	claim.SetName(network.Name)
	claim.SetUID(network.UID)
	claim.SetResourceVersion(network.ResourceVersion)
	claim.SetLabels(map[string]string{
		LabelBenchmark: benchmark.Name, LabelBenchmarkUID: string(benchmark.UID),
		LabelRun: runLabel(number), LabelLoad: LoadByRecorder,
	})
	return claim
}

// Release takes from a network what a claim says of it, and nothing else.
func Release(network *v1alpha1.ShardNetwork) {
	for _, label := range []string{LabelBenchmark, LabelBenchmarkUID, LabelRun, LabelLoad} {
		delete(network.Labels, label)
	}
}

// Claimant is the benchmark whose load a network is said to carry, by its name and its
// UID; empty when there is none.
func Claimant(network *v1alpha1.ShardNetwork) (name, uid string) {
	if network.Labels[LabelLoad] != LoadByRecorder || network.Labels[LabelBenchmarkUID] == "" {
		return "", ""
	}
	return network.Labels[LabelBenchmark], network.Labels[LabelBenchmarkUID]
}

// ClaimedFor says whether a network is said to carry the load of a benchmark.
func ClaimedFor(network *v1alpha1.ShardNetwork, benchmark *v1alpha1.Benchmark) bool {
	name, uid := Claimant(network)
	return name == benchmark.Name && uid == string(benchmark.UID) && uid != ""
}

// MarkedBy says whether a network has anything that a benchmark said of it.
func MarkedBy(network *v1alpha1.ShardNetwork, benchmark *v1alpha1.Benchmark) bool {
	return benchmark.UID != "" && network.Labels[LabelBenchmarkUID] == string(benchmark.UID)
}

// RunNetworkOwner is the benchmark that a network was made for; false when it was made
// for none.
func RunNetworkOwner(network *v1alpha1.ShardNetwork) (string, bool) {
	owner := metav1.GetControllerOf(network)
	if owner == nil || owner.Kind != v1alpha1.KindBenchmark || owner.APIVersion != v1alpha1.GroupVersion.String() {
		return "", false
	}
	return owner.Name, true
}
