// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

func newBenchmark() *v1alpha1.Benchmark {
	benchmark := &v1alpha1.Benchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: "chains", Name: "bench", UID: "benchmark-uid", ResourceVersion: "7"},
		Spec:       v1alpha1.BenchmarkSpec{DurationSeconds: 5},
	}
	benchmark.Status.Phase = v1alpha1.BenchmarkRunning
	return benchmark
}

// Whatever a benchmark makes goes with it.
func TestObjectsOfABenchmark(t *testing.T) {
	t.Parallel()
	benchmark := newUploaded(v1alpha1.BenchmarkUpload{URL: "s3://kept"})
	objects, err := resources.BenchmarkObjects(benchmark, topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	inputs := resources.RecorderInputs{Image: "operator:test", ClusterDomain: "cluster.local", NodeImage: "shardnode:test"}
	objects = append(objects, resources.NewRunNetwork(benchmark, 3, v1alpha1.ShardNetworkSpec{}),
		resources.NewRecorder(benchmark, 3, inputs), resources.NewJudge(benchmark, inputs),
		resources.NewUploader(benchmark, inputs))
	for _, object := range objects {
		if !metav1.IsControlledBy(object, benchmark) || object.GetNamespace() != "chains" {
			t.Errorf("%s is not the benchmark's", object.GetName())
		}
		labels := object.GetLabels()
		if labels[resources.LabelManagedBy] != resources.ManagedBy || labels[resources.LabelBenchmark] != "bench" {
			t.Errorf("%s has the labels %v", object.GetName(), labels)
		}
		// Its pods are no nodes of a network.
		if network, ok := labels[resources.LabelNetwork]; ok {
			t.Errorf("%s is of the network %s", object.GetName(), network)
		}
	}
}

// The pods read the very benchmark, and nothing that changes.
func TestTheBenchmarkOfPods(t *testing.T) {
	t.Parallel()
	objects, err := resources.BenchmarkObjects(newBenchmark(), topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	var read v1alpha1.Benchmark
	if err := json.Unmarshal([]byte(objects[0].(*corev1.ConfigMap).Data["benchmark.json"]), &read); err != nil {
		t.Fatal(err)
	}
	want := newBenchmark()
	want.TypeMeta = metav1.TypeMeta{APIVersion: "shardyard.dev/v1alpha1", Kind: "Benchmark"}
	want.ResourceVersion, want.Status = "", v1alpha1.BenchmarkStatus{}
	if !reflect.DeepEqual(&read, want) {
		t.Errorf("the pods read %+v, want %+v", read, want)
	}
}

// The network of a run lets its recorder in, and the recorder lets nobody in.
func TestThePolicyOfRecorders(t *testing.T) {
	t.Parallel()
	objects, err := resources.BenchmarkObjects(newBenchmark(), topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	policy := objects[2].(*networkingv1.NetworkPolicy)
	recorder := resources.NewRecorder(newBenchmark(), 1, resources.RecorderInputs{})
	for label, value := range policy.Spec.PodSelector.MatchLabels {
		if recorder.Labels[label] != value {
			t.Errorf("the policy selects %s=%s, and the recorder has %q", label, value, recorder.Labels[label])
		}
	}
	if len(policy.Spec.Ingress) > 0 || len(policy.Spec.PolicyTypes) != 2 {
		t.Errorf("the policy is %+v, want one that lets nobody in", policy.Spec)
	}
	nodes := policy.Spec.Egress[0].To[0].PodSelector.MatchLabels
	for label, value := range nodes {
		if got := resources.NetworkLabels("bench")[label]; got != value {
			t.Errorf("the recorder may reach what has %s=%s, and nodes have %q", label, value, got)
		}
	}
	if len(nodes) == 0 || policy.Spec.Egress[0].Ports[0].Port.IntValue() != topology.DefaultPorts.HTTP {
		t.Errorf("the recorder may reach %+v", policy.Spec.Egress[0])
	}
}
