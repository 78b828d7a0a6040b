// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// newSteeredBenchmark is one whose load is a closed loop.
func newSteeredBenchmark() *v1alpha1.Benchmark {
	benchmark := newBenchmark()
	benchmark.Spec.Load = v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileClosedLoop, ClosedLoop: &v1alpha1.ClosedLoopLoad{}}
	return benchmark
}

// admits says whether a policy lets a pod with labels in, or out to pods with them.
func admits(t *testing.T, peers []networkingv1.NetworkPolicyPeer, pod map[string]string) bool {
	t.Helper()
	return slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		selector, err := metav1.LabelSelectorAsSelector(peer.PodSelector)
		if err != nil {
			t.Fatal(err)
		}
		return selector.Matches(labels.Set(pod))
	})
}

// ports are those of a rule.
func ports(all []networkingv1.NetworkPolicyPort) (numbers []int) {
	for _, port := range all {
		numbers = append(numbers, port.Port.IntValue())
	}
	return numbers
}

// The recorder of a closed loop is given the token and the genesis document of its
// network by name, to read, and nothing else; no other pod has them.
func TestWhatARecorderSteersWith(t *testing.T) {
	t.Parallel()
	inputs := resources.RecorderInputs{Image: "operator:test"}
	pod := resources.NewRecorder(newSteeredBenchmark(), 1, inputs)
	container := &pod.Spec.Containers[0]
	for _, argument := range []string{"--admin-token=/etc/shardyard-admin/admin.token", "--genesis=/etc/shardyard-admin/genesis.json"} {
		if !slices.Contains(container.Args, argument) {
			t.Errorf("the recorder is told %q, and not %s", container.Args, argument)
		}
	}
	checkAdminVolume(t, pod)
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.MajorMinorVersion(1, 36)}
	if result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec)); !result.Allowed {
		t.Errorf("the recorder violates %s", result.ForbiddenDetail())
	}
	for _, other := range []*corev1.Pod{
		resources.NewRecorder(newBenchmark(), 1, inputs), resources.NewJudge(newSteeredBenchmark(), inputs),
		resources.NewReader(newSteeredBenchmark(), inputs.Image),
	} {
		if strings.Contains(other.Spec.String(), "bench-admin") || strings.Contains(other.Spec.String(), "admin-token") {
			t.Errorf("%s%s has the token: %s", other.Name, other.GenerateName, other.Spec.String())
		}
	}
}

// checkAdminVolume checks what a recorder reads to be let in by nodes.
func checkAdminVolume(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	mounts := pod.Spec.Containers[0].VolumeMounts
	mounted := slices.IndexFunc(mounts, func(mount corev1.VolumeMount) bool { return mount.MountPath == "/etc/shardyard-admin" })
	if mounted < 0 || !mounts[mounted].ReadOnly {
		t.Fatalf("the mounts are %+v", mounts)
	}
	volume := pod.Spec.Volumes[slices.IndexFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		return volume.Name == mounts[mounted].Name
	})]
	sources := volume.Projected.Sources
	if len(sources) != 2 || sources[0].Secret.Name != "bench-admin" || sources[1].ConfigMap.Name != "bench-genesis" ||
		len(sources[0].Secret.Items) != 1 || len(sources[1].ConfigMap.Items) != 1 || *volume.Projected.DefaultMode != 0o440 {
		t.Errorf("the volume is %+v", volume.Projected)
	}
}

// The admin port is open between the recorders of a closed loop and the nodes of its
// network, and to nobody else.
func TestThePoliciesOfAClosedLoop(t *testing.T) {
	t.Parallel()
	admin := topology.DefaultPorts.Admin
	open, err := resources.BenchmarkObjects(newBenchmark(), topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	if len(open) != 3 || slices.Contains(ports(open[2].(*networkingv1.NetworkPolicy).Spec.Egress[0].Ports), admin) {
		t.Errorf("without a closed loop, the objects are %+v", open)
	}
	objects, err := resources.BenchmarkObjects(newSteeredBenchmark(), topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 4 || !metav1.IsControlledBy(objects[3], newSteeredBenchmark()) {
		t.Fatalf("the objects are %+v", objects)
	}
	egress := objects[2].(*networkingv1.NetworkPolicy).Spec.Egress[0]
	if !slices.Equal(ports(egress.Ports), []int{topology.DefaultPorts.HTTP, admin}) {
		t.Errorf("recorders reach the ports %d", ports(egress.Ports))
	}
	steering := objects[3].(*networkingv1.NetworkPolicy)
	node := resources.NetworkLabels("bench")
	if !admits(t, []networkingv1.NetworkPolicyPeer{{PodSelector: &steering.Spec.PodSelector}}, node) || len(steering.Spec.Ingress) != 1 ||
		!slices.Equal(ports(steering.Spec.Ingress[0].Ports), []int{admin}) || len(steering.Spec.Egress) > 0 ||
		!slices.Equal(steering.Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}) {
		t.Errorf("the policy is %+v", steering.Spec)
	}
	inputs, other := resources.RecorderInputs{}, newSteeredBenchmark()
	other.Name = "other"
	for who, pod := range map[string]struct {
		labels map[string]string
		in     bool
	}{
		"the recorder of a run":       {resources.NewRecorder(newSteeredBenchmark(), 2, inputs).Labels, true},
		"the judge":                   {resources.NewJudge(newSteeredBenchmark(), inputs).Labels, false},
		"a reader":                    {resources.NewReader(newSteeredBenchmark(), "").Labels, false},
		"a node":                      {node, false},
		"the recorder of another one": {resources.NewRecorder(other, 1, inputs).Labels, false},
	} {
		if got := admits(t, steering.Spec.Ingress[0].From, pod.labels); got != pod.in {
			t.Errorf("%s is let in: %v, want %v", who, got, pod.in)
		}
	}
}

// Whoever makes a network by hand has the operator tell it its load.
func TestWhoTellsNodesTheirLoad(t *testing.T) {
	t.Parallel()
	of := func(benchmark *v1alpha1.Benchmark) *v1alpha1.ShardNetwork {
		return resources.NewRunNetwork(benchmark, 1, v1alpha1.ShardNetworkSpec{})
	}
	before := newBenchmark()
	before.Spec.Load.Signing = v1alpha1.SigningBefore
	byHand := of(newSteeredBenchmark())
	byHand.OwnerReferences = nil
	owned := of(newSteeredBenchmark())
	owned.OwnerReferences[0].Kind = "Deployment"
	loaded := of(newSteeredBenchmark())
	loaded.Spec.Load = &v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: ptr.To[int64](1)},
	}
	for name, test := range map[string]struct {
		network *v1alpha1.ShardNetwork
		want    bool
	}{
		"of a closed loop":          {of(newSteeredBenchmark()), true},
		"of a load signed before":   {of(before), true},
		"of another load":           {of(newBenchmark()), false},
		"made by hand":              {byHand, false},
		"of something else":         {owned, false},
		"with a load of its own":    {loaded, false},
		"with nothing that says so": {&v1alpha1.ShardNetwork{}, false},
	} {
		if got := resources.LoadedByRecorder(test.network); got != test.want {
			t.Errorf("the load of a network %s is told by a recorder: %v, want %v", name, got, test.want)
		}
	}
}
