// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// variant is one kind of nodes that is measured.
type variant struct {
	// name is empty when the benchmark has no variants.
	name      string
	shardnode string
	network   *v1alpha1.ShardNetwork
}

// planned is one run that is to be made.
type planned struct {
	variant    *variant
	repetition int
}

func (p planned) String() string {
	if p.variant.name == "" {
		return fmt.Sprintf("run %d", p.repetition)
	}
	return fmt.Sprintf("run %d of %s", p.repetition, p.variant.name)
}

// folder is the name of the folder of the run's network.
func (p planned) folder() string {
	return fmt.Sprintf("%s-%d", cmp.Or(p.variant.name, "run"), p.repetition)
}

// variants are what a benchmark measures.
func (o *Options) variants() []variant {
	spec := &o.Benchmark.Spec
	if len(spec.Variants) == 0 {
		return []variant{{shardnode: o.Shardnode, network: newNetwork(o.Benchmark, nil)}}
	}
	variants := make([]variant, 0, len(spec.Variants))
	for i := range spec.Variants {
		name := spec.Variants[i].Name
		variants = append(variants, variant{
			name:      name,
			shardnode: cmp.Or(o.Shardnodes[name], o.Shardnode),
			network:   newNetwork(o.Benchmark, spec.Variants[i].Features),
		})
	}
	return variants
}

// newNetwork makes the network of a benchmark's runs, with these features if
// there are any.
func newNetwork(benchmark *v1alpha1.Benchmark, features *v1alpha1.NodeFeatures) *v1alpha1.ShardNetwork {
	network := &v1alpha1.ShardNetwork{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindShardNetwork},
		ObjectMeta: metav1.ObjectMeta{Name: benchmark.Name, Namespace: benchmark.Namespace},
		Spec:       *benchmark.Spec.Network.Template.Spec.DeepCopy(),
	}
	network.Spec.Load = benchmark.Spec.Load.DeepCopy()
	if features != nil {
		network.Spec.Node.Features = *features.DeepCopy()
	}
	return network
}

// schedule interleaves the runs of all variants. The one that goes first changes,
// so that what becomes slower or faster with time does so to all of them.
func schedule(variants []variant, repetitions int) []planned {
	runs := make([]planned, 0, len(variants)*repetitions)
	for repetition := range repetitions {
		for i := range variants {
			turn := (i + repetition) % len(variants)
			runs = append(runs, planned{variant: &variants[turn], repetition: repetition + 1})
		}
	}
	return runs
}
