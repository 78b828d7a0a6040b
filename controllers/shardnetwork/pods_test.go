// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// podNetworks counts the networks whose pods have addresses of this machine.
var podNetworks atomic.Int32

// runningPods are what the cluster's controllers and machines would make of a network:
// there are none beside an API server. Every pod is on a machine of its own, and
// its node takes part.
type runningPods struct {
	network *v1alpha1.ShardNetwork
	// clusters have the validators, by the name of their cluster.
	clusters map[string]*cluster
	// plan is what the network comes to, and address the first part of the pods'
	// addresses.
	plan    *topology.Plan
	address string
	// finalized is when the last block was, in milliseconds.
	finalized atomic.Int64
	// heights are how far the node of each validator is.
	heights []atomic.Uint64
}

// runPods has all pods of a network run, in the cluster and in those of its members.
func (c *cluster) runPods(network *v1alpha1.ShardNetwork, members map[string]*cluster) *runningPods {
	c.t.Helper()
	plan, err := topology.New(network)
	if err != nil {
		c.t.Fatal(err)
	}
	p := &runningPods{
		network:  network,
		clusters: map[string]*cluster{"": c},
		plan:     plan,
		address:  fmt.Sprintf("127.26.%d", podNetworks.Add(1)),
		heights:  make([]atomic.Uint64, len(plan.Nodes)),
	}
	for i := range p.heights {
		p.heights[i].Store(1200)
	}
	for name, member := range members {
		p.clusters[name] = member
	}
	p.finalize(c.clock)
	for i, validator := range plan.Nodes {
		p.serve(i)
		holder := p.holder(i)
		machine := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: p.machine(i)}}
		if err := holder.client.Create(c.t.Context(), machine); err != nil {
			c.t.Fatal(err)
		}
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: holder.namespace, Name: validator.Name}}
		holder.read(set)
		set.Status = appsv1.StatefulSetStatus{ObservedGeneration: set.Generation, UpdateRevision: "a", Replicas: 1}
		if err := holder.client.Status().Update(c.t.Context(), set); err != nil {
			c.t.Fatal(err)
		}
		p.start(i)
	}
	return p
}

// holder is the cluster of a validator.
func (p *runningPods) holder(index int) *cluster { return p.clusters[p.plan.Nodes[index].Cluster] }

// machine is the name of a validator's machine.
func (p *runningPods) machine(index int) string {
	return fmt.Sprintf("%s-%d", p.network.Namespace, index)
}

// finalize has the last block be finalised at a time.
func (p *runningPods) finalize(at time.Time) { p.finalized.Store(at.UnixMilli()) }

// reconcile runs the operator once, while the chain goes on.
func (p *runningPods) reconcile() {
	c := p.clusters[""]
	c.t.Helper()
	p.finalize(c.clock)
	c.mustReconcile(p.network)
}

// serve serves the HTTP API of a validator's node.
func (p *runningPods) serve(index int) {
	c := p.holder(index)
	c.t.Helper()
	listener, err := new(net.ListenConfig).Listen(c.t.Context(), "tcp", fmt.Sprintf("%s.%d:%d", p.address, index+1, p.plan.Ports.HTTP))
	if err != nil {
		c.t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		height := p.heights[index].Load()
		_ = json.NewEncoder(w).Encode(chain.Status{
			Network: p.network.Name, Node: p.plan.Nodes[index].Name, GenesisHash: "6f1c",
			Height: height, FinalizedHeight: height, FinalizedTimeMs: p.finalized.Load(),
			Peers: len(p.plan.Nodes) - 1, Copy: &chain.CopyStatus{Complete: true},
		})
	})}
	go func() { _ = server.Serve(listener) }()
	c.t.Cleanup(func() { _ = server.Close() })
}

// start makes the pod of a validator, and has it run for a minute already.
func (p *runningPods) start(index int) {
	c, validator := p.holder(index), p.plan.Nodes[index]
	c.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: validator.Name}}
	c.read(set)
	pod := &corev1.Pod{ObjectMeta: set.Spec.Template.ObjectMeta, Spec: set.Spec.Template.Spec}
	pod.Namespace, pod.Name = c.namespace, resources.PodName(validator.Name)
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = set.Status.UpdateRevision
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	pod.Spec.NodeName = p.machine(index)
	for i := range set.Spec.VolumeClaimTemplates {
		claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: resources.ClaimName(validator.Name)}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: set.Spec.VolumeClaimTemplates[i].Name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim},
		})
	}
	if err := c.client.Create(c.t.Context(), pod); err != nil {
		c.t.Fatal(err)
	}
	since := metav1.NewTime(p.clusters[""].clock.Add(-time.Minute))
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning,
		PodIP: fmt.Sprintf("%s.%d", p.address, index+1), PodIPs: []corev1.PodIP{{IP: fmt.Sprintf("%s.%d", p.address, index+1)}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: resources.ContainerName, Ready: true, Started: ptr.To(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		}},
	}
	if err := c.client.Status().Update(c.t.Context(), pod); err != nil {
		c.t.Fatal(err)
	}
}

// outdate has a validator's pod be made from an earlier StatefulSet.
func (p *runningPods) outdate(index int) {
	c := p.holder(index)
	c.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: p.plan.Nodes[index].Name}}
	c.read(set)
	set.Status.UpdateRevision = "b"
	if err := c.client.Status().Update(c.t.Context(), set); err != nil {
		c.t.Fatal(err)
	}
}

// end has the machine of a validator end its pod.
func (p *runningPods) end(index int) {
	c := p.holder(index)
	c.t.Helper()
	if err := c.client.Delete(c.t.Context(), p.pod(index), client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
		c.t.Fatal(err)
	}
}

// unready has a validator's pod not be ready.
func (p *runningPods) unready(index int) {
	c, pod := p.holder(index), p.pod(index)
	c.t.Helper()
	pod.Status.Conditions[0].Status = corev1.ConditionFalse
	if err := c.client.Status().Update(c.t.Context(), pod); err != nil {
		c.t.Fatal(err)
	}
}

// pod is the one of a validator as it is now.
func (p *runningPods) pod(index int) *corev1.Pod {
	c := p.holder(index)
	c.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: resources.PodName(p.plan.Nodes[index].Name)}}
	c.read(pod)
	return pod
}

// cordon lets no new pods onto the machine of a validator, or lets them again.
func (p *runningPods) cordon(index int, cordoned bool) {
	c := p.holder(index)
	c.t.Helper()
	machine := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: p.machine(index)}}
	c.read(machine)
	machine.Spec.Unschedulable = cordoned
	if err := c.client.Update(c.t.Context(), machine); err != nil {
		c.t.Fatal(err)
	}
}
