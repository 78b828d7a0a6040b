// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"reflect"
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

// Side by side, the runs of all variants of a repetition are made together.
func TestRounds(t *testing.T) {
	t.Parallel()
	keys := func(spec v1alpha1.BenchmarkSpec) string {
		var rounds []string
		for _, round := range bench.Rounds(&spec) {
			var keys []string
			for _, run := range round {
				keys = append(keys, run.Key())
			}
			rounds = append(rounds, strings.Join(keys, "+"))
		}
		return strings.Join(rounds, " ")
	}
	two := v1alpha1.BenchmarkSpec{Repetitions: 2, Variants: []v1alpha1.BenchmarkVariant{{Name: "a"}, {Name: "b"}}}
	for interleaving, want := range map[v1alpha1.BenchmarkInterleaving]string{
		"":                              "a-1 b-1 b-2 a-2",
		v1alpha1.InterleavingInTurn:     "a-1 b-1 b-2 a-2",
		v1alpha1.InterleavingSideBySide: "a-1+b-1 b-2+a-2",
	} {
		two.Interleaving = interleaving
		if got := keys(two); got != want {
			t.Errorf("%q: the rounds are %s, want %s", interleaving, got, want)
		}
	}
	if got, want := keys(v1alpha1.BenchmarkSpec{Repetitions: 2}), "run-1 run-2"; got != want {
		t.Errorf("the rounds are %s, want %s", got, want)
	}
}

func TestNetworkSpec(t *testing.T) {
	t.Parallel()
	traced := &v1alpha1.TracingSpec{Endpoint: "http://collector:4318", SampleBasisPoints: 100}
	spec := v1alpha1.BenchmarkSpec{Variants: []v1alpha1.BenchmarkVariant{{Name: "a"}, {
		Name: "b", Features: &v1alpha1.NodeFeatures{SignatureBatchSize: ptr.To[int32](1)}, Image: "shardnode:b",
		Log: &v1alpha1.NodeLog{Level: v1alpha1.LogLevelDebug}, Tracing: traced,
	}}}
	of := &spec.Network.Template.Spec
	of.Shards, of.Node.Image, of.Node.Log.Level = 3, "shardnode:a", v1alpha1.LogLevelWarn
	of.Node.Features.SignatureBatchSize = ptr.To[int32](7)

	want := *of.DeepCopy()
	if got := bench.NetworkSpec(&spec, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("a variant that differs in nothing has %+v, want %+v", got, want)
	}
	want.Node.Image, want.Node.Log.Level, want.Tracing = "shardnode:b", v1alpha1.LogLevelDebug, traced
	want.Node.Features.SignatureBatchSize = ptr.To[int32](1)
	if got := bench.NetworkSpec(&spec, 1); !reflect.DeepEqual(got, want) {
		t.Errorf("a variant that differs in everything has %+v, want %+v", got, want)
	}
}
