// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
)

// Variants take turns, and each goes first as often as the other.
func TestRuns(t *testing.T) {
	t.Parallel()
	keys := func(spec v1alpha1.BenchmarkSpec) string {
		var keys []string
		for _, run := range bench.Runs(&spec) {
			keys = append(keys, run.Key())
		}
		return strings.Join(keys, " ")
	}
	two := v1alpha1.BenchmarkSpec{Repetitions: 3, Variants: []v1alpha1.BenchmarkVariant{{Name: "a"}, {Name: "b"}}}
	if got, want := keys(two), "a-1 b-1 b-2 a-2 a-3 b-3"; got != want {
		t.Errorf("the runs are %s, want %s", got, want)
	}
	if got, want := keys(v1alpha1.BenchmarkSpec{Repetitions: 2}), "run-1 run-2"; got != want {
		t.Errorf("the runs are %s, want %s", got, want)
	}
}

func TestNetworkSpec(t *testing.T) {
	t.Parallel()
	spec := v1alpha1.BenchmarkSpec{Variants: []v1alpha1.BenchmarkVariant{
		{Name: "a"}, {Name: "b", Features: &v1alpha1.NodeFeatures{SignatureBatchSize: ptr.To[int32](1)}, Image: "shardnode:b"},
	}}
	spec.Network.Template.Spec.Node.Image = "shardnode:a"
	spec.Network.Template.Spec.Node.Features.SignatureBatchSize = ptr.To[int32](7)
	for variant, want := range []int32{7, 1} {
		if got := *bench.NetworkSpec(&spec, variant).Node.Features.SignatureBatchSize; got != want {
			t.Errorf("variant %d has a batch size of %d, want %d", variant, got, want)
		}
	}
	for variant, want := range []string{"shardnode:a", "shardnode:b"} {
		if got := bench.NetworkSpec(&spec, variant).Node.Image; got != want {
			t.Errorf("variant %d has the image %s, want %s", variant, got, want)
		}
	}
}
