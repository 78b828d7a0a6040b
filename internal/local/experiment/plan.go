// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
)

// variant is one kind of nodes that is measured.
type variant struct {
	// name is empty when the benchmark has no variants.
	name      string
	shardnode string
	network   *v1alpha1.ShardNetwork
}

// variants are what a benchmark measures.
func (o *Options) variants() []variant {
	spec := &o.Benchmark.Spec
	if len(spec.Variants) == 0 {
		return []variant{{shardnode: o.Shardnode, network: newNetwork(o.Benchmark, 0)}}
	}
	variants := make([]variant, 0, len(spec.Variants))
	for i := range spec.Variants {
		name := spec.Variants[i].Name
		variants = append(variants, variant{
			name:      name,
			shardnode: cmp.Or(o.Shardnodes[name], o.Shardnode),
			network:   newNetwork(o.Benchmark, i),
		})
	}
	return variants
}

// newNetwork makes the network of a variant's runs.
func newNetwork(benchmark *v1alpha1.Benchmark, variant int) *v1alpha1.ShardNetwork {
	network := &v1alpha1.ShardNetwork{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindShardNetwork},
		ObjectMeta: metav1.ObjectMeta{Name: benchmark.Name, Namespace: benchmark.Namespace},
		Spec:       bench.NetworkSpec(&benchmark.Spec, variant),
	}
	network.Spec.Load = benchmark.Spec.Load.DeepCopy()
	return network
}
