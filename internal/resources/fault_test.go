// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// newFault is a fault whose network has another name than it has.
func newFault(action v1alpha1.FaultAction) (*v1alpha1.Fault, *v1alpha1.ShardNetwork) {
	fault := &v1alpha1.Fault{
		ObjectMeta: metav1.ObjectMeta{Namespace: "chains", Name: "fault", UID: "fault-uid"},
		Spec: v1alpha1.FaultSpec{
			NetworkName: "net", Action: action, DurationSeconds: 30, BaselineSeconds: 10, RecoverySeconds: 120,
		},
	}
	network := &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "chains", Name: "net", UID: "network-uid", Generation: 3},
		Spec:       v1alpha1.ShardNetworkSpec{Shards: 7},
	}
	return fault, network
}

func faultInputs(action v1alpha1.FaultAction) resources.FaultInputs {
	return resources.FaultInputs{
		Image: "operator:test", ClusterDomain: "cluster.local", KeptByNodes: action != v1alpha1.FaultActionKill,
	}
}

func faultObjects(t *testing.T, action v1alpha1.FaultAction) []resources.Object {
	t.Helper()
	fault, network := newFault(action)
	objects, err := resources.FaultObjects(fault, network, topology.DefaultPorts, faultInputs(action))
	if err != nil {
		t.Fatal(err)
	}
	return append(objects, resources.NewWatcher(fault, network, faultInputs(action)))
}

// Whatever a fault makes goes with it, and none of it is of the network.
func TestObjectsOfAFault(t *testing.T) {
	t.Parallel()
	for action, want := range map[v1alpha1.FaultAction]int{
		v1alpha1.FaultActionKill: 3, v1alpha1.FaultActionLoss: 4, v1alpha1.FaultActionSlowDisk: 4,
		v1alpha1.FaultActionWrongClock: 4,
	} {
		objects := faultObjects(t, action)
		if len(objects) != want {
			t.Errorf("%s makes %d objects, want %d", action, len(objects), want)
		}
		for _, object := range objects {
			fault, _ := newFault(action)
			if !metav1.IsControlledBy(object, fault) || object.GetNamespace() != "chains" {
				t.Errorf("%s is not the fault's", object.GetName())
			}
			labels := object.GetLabels()
			if _, ok := labels[resources.LabelNetwork]; ok || labels[resources.LabelManagedBy] != resources.ManagedBy {
				t.Errorf("%s has the labels %v", object.GetName(), labels)
			}
		}
	}
}

// The pod reads the very fault and its network.
func TestTheOrderOfAFault(t *testing.T) {
	t.Parallel()
	var order resources.FaultOrder
	content := faultObjects(t, v1alpha1.FaultActionKill)[0].(*corev1.ConfigMap).Data["fault.json"]
	if err := json.Unmarshal([]byte(content), &order); err != nil {
		t.Fatal(err)
	}
	if order.Fault.Name != "fault" || order.Fault.Spec.DurationSeconds != 30 || order.Network.Name != "net" || order.Network.Spec.Shards != 7 {
		t.Errorf("the pod reads %+v", order)
	}
}

// The pod waits behind its gate, begins nothing twice, and has what its action takes
// and no more.
func TestThePodOfAFault(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.MajorMinorVersion(1, 36)}
	for _, action := range []v1alpha1.FaultAction{
		v1alpha1.FaultActionKill, v1alpha1.FaultActionPartition, v1alpha1.FaultActionDelay, v1alpha1.FaultActionLoss,
	} {
		fault, network := newFault(action)
		pod := resources.NewWatcher(fault, network, faultInputs(action))
		if result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec)); !result.Allowed {
			t.Errorf("%s: it violates %s", action, result.ForbiddenDetail())
		}
		if mounts := pod.Spec.AutomountServiceAccountToken; mounts == nil || *mounts || pod.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s: it has a token, or is started again", action)
		}
		if !resources.Gated(pod) || *pod.Spec.ActiveDeadlineSeconds != 760 {
			t.Errorf("%s: the pod is %+v", action, pod.Spec)
		}
		kept := action != v1alpha1.FaultActionKill
		if has := slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Projected != nil }); has != kept {
			t.Errorf("%s: it has the token of the admin API: %v", action, has)
		}
		if asks := pod.Spec.Containers[0].ReadinessProbe != nil; asks == kept {
			t.Errorf("%s: it asks for the fault: %v", action, asks)
		}
		if !resources.Knows(pod, network) {
			t.Errorf("%s: it does not know its network", action)
		}
		network.Generation++
		if resources.Knows(pod, network) {
			t.Errorf("%s: it knows a network that has changed since", action)
		}
	}
}

// selects says whether a policy is about a pod.
func selects(selector map[string]string, pod *corev1.Pod) bool {
	for label, value := range selector {
		if pod.Labels[label] != value {
			return false
		}
	}
	return len(selector) > 0
}

// The pod reaches the nodes, and their admin API for a fault that nodes keep alone.
func TestThePoliciesOfFaults(t *testing.T) {
	t.Parallel()
	for action, kept := range map[v1alpha1.FaultAction]bool{v1alpha1.FaultActionKill: false, v1alpha1.FaultActionDelay: true} {
		objects := faultObjects(t, action)
		pod := objects[len(objects)-1].(*corev1.Pod)
		own := objects[1].(*networkingv1.NetworkPolicy)
		if !selects(own.Spec.PodSelector.MatchLabels, pod) || len(own.Spec.Ingress) > 0 || len(own.Spec.PolicyTypes) != 2 {
			t.Errorf("%s: the policy of the pod is %+v", action, own.Spec)
		}
		var ports []int
		for _, port := range own.Spec.Egress[0].Ports {
			ports = append(ports, port.Port.IntValue())
		}
		if slices.Contains(ports, topology.DefaultPorts.Admin) != kept || !slices.Contains(ports, topology.DefaultPorts.HTTP) {
			t.Errorf("%s: the pod reaches the ports %v", action, ports)
		}
		nodes := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: resources.NetworkLabels("net")}}
		if !selects(own.Spec.Egress[0].To[0].PodSelector.MatchLabels, nodes) {
			t.Errorf("%s: the pod may reach %+v", action, own.Spec.Egress[0].To)
		}
	}
}

// The nodes let the pod in to their admin API, and nobody else.
func TestWhomNodesLetIn(t *testing.T) {
	t.Parallel()
	objects := faultObjects(t, v1alpha1.FaultActionDelay)
	pod := objects[3].(*corev1.Pod)
	lets := objects[2].(*networkingv1.NetworkPolicy).Spec
	rule := lets.Ingress[0]
	if !selects(rule.From[0].PodSelector.MatchLabels, pod) || rule.Ports[0].Port.IntValue() != topology.DefaultPorts.Admin ||
		lets.PodSelector.MatchLabels[resources.LabelNetwork] != "net" || len(lets.PolicyTypes) != 1 {
		t.Errorf("the nodes let in %+v", lets)
	}
	if arguments := strings.Join(pod.Spec.Containers[0].Args, " "); !strings.Contains(arguments, "--admin-token=") {
		t.Errorf("the pod is told %s", arguments)
	}
}

// The pod of a fault that nodes keep has what says by which keys rpc nodes and archives are
// known, under whatever name that has by now.
func TestWhomThePodOfAFaultKnows(t *testing.T) {
	t.Parallel()
	for action, kept := range map[v1alpha1.FaultAction]bool{v1alpha1.FaultActionKill: false, v1alpha1.FaultActionDelay: true} {
		fault, network := newFault(action)
		pod := resources.NewWatcher(fault, network, faultInputs(action))
		container := &pod.Spec.Containers[0]
		mounted := slices.IndexFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool {
			return mount.MountPath == "/etc/shardyard-peers"
		})
		if told := slices.Contains(container.Args, "--peers=/etc/shardyard-peers"); told != kept || mounted >= 0 != kept {
			t.Errorf("%s: the pod is told %q, with the mounts %+v", action, container.Args, container.VolumeMounts)
		}
		if mounted < 0 {
			continue
		}
		mount := container.VolumeMounts[mounted]
		volume := pod.Spec.Volumes[slices.IndexFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == mount.Name })]
		if volume.ConfigMap == nil || volume.ConfigMap.Name != "net-peers" || len(volume.ConfigMap.Items) > 0 || !mount.ReadOnly {
			t.Errorf("%s: the volume is %+v, mounted as %+v", action, volume, mount)
		}
	}
}
