// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// healthy is a network whose nodes all take part, answer, and run what the spec
// says.
func healthy(t rapid.TB, shards, producers int32) *policy.Observation {
	t.Helper()
	return healthyWith(t, shards, producers, 0)
}

// healthyWith is a healthy network with chunk validators, the last of its nodes.
func healthyWith(t rapid.TB, shards, producers, chunkValidators int32) *policy.Observation {
	t.Helper()
	return healthyServed(t, shards, producers, chunkValidators, 0)
}

// healthyServed is a healthy network with chunk validators and then rpc nodes, the
// last of its nodes.
func healthyServed(t rapid.TB, shards, producers, chunkValidators, rpcNodes int32) *policy.Observation {
	t.Helper()
	return healthyArchived(t, shards, producers, chunkValidators, rpcNodes, 0)
}

// healthyArchived is a healthy network with archives after all others.
func healthyArchived(
	t rapid.TB, shards, producers, chunkValidators, rpcNodes, archives int32,
) *policy.Observation {
	t.Helper()
	nodes := shards*producers + chunkValidators + rpcNodes + archives
	network := &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quickstart"},
		Spec: v1alpha1.ShardNetworkSpec{
			Shards:            shards,
			ProducersPerShard: producers,
			ChunkValidators:   chunkValidators,
			RPCNodes:          rpcNodes,
			ArchiveNodes:      archives,
			Regions:           []v1alpha1.Region{{Name: "local", Nodes: nodes}},
			Protocol:          v1alpha1.ProtocolSpec{MinBlockTimeMilliseconds: 250},
			Placement: v1alpha1.PlacementSpec{
				Exclusivity:    v1alpha1.Shared,
				RegionAffinity: v1alpha1.RegionNone,
			},
			TCP: v1alpha1.TCPSpec{Profile: v1alpha1.TCPProfileNodeDefault},
			Update: v1alpha1.UpdateSpec{
				OnTrouble: v1alpha1.OnTroublePause, DeadlineSeconds: 600, OnlyCopies: v1alpha1.OnlyCopiesKeep,
			},
			Healing: v1alpha1.HealingSpec{
				Mode: v1alpha1.HealingRestart, LostVolumes: v1alpha1.LostVolumesReplace, StuckAfterSeconds: 300,
			},
		},
	}
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	observation := &policy.Observation{Network: network, Plan: plan, Now: now}
	for i, validator := range plan.Nodes {
		observation.Nodes = append(observation.Nodes, policy.Node{
			Validator: validator,
			Pod:       readyPod(validator.Name, i),
			Status:    status(validator, int(shards)),
		})
		observation.Nodes[i].Status.Peers = len(plan.Nodes) - 1
	}
	return observation
}

// estimate is what a network costs by the prices that the program has.
func estimate(t rapid.TB, observation *policy.Observation) *cost.Estimate {
	t.Helper()
	prices, err := cost.ReadPrices()
	if err != nil {
		t.Fatal(err)
	}
	return cost.New(observation.Network, observation.Plan, prices)
}

func readyPod(validator string, index int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: resources.PodName(validator), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
		},
		Spec: corev1.PodSpec{
			NodeName:   "machine-" + strconv.Itoa(index),
			Containers: []corev1.Container{{Name: resources.ContainerName, Image: "ghcr.io/shardyard/shardnode:0.1.0"}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{
				Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
			}},
			ContainerStatuses: []corev1.ContainerStatus{{
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Started: ptr.To(true),
			}},
		},
	}
}

// status is what a node says that is at height 1200, with a chunk of every
// shard in the block before.
func status(validator topology.Validator, shards int) *chain.Status {
	status := &chain.Status{
		Node:            validator.Name,
		GenesisHash:     "6f1c",
		Height:          1201,
		FinalizedHeight: 1200,
		FinalizedTimeMs: now.Add(-time.Second).UnixMilli(),
		Supply:          chain.Supply{Expected: 1000, Balances: 990, InFlight: 10, Conserved: true},
	}
	if validator.Seat != nil {
		status.Copy = &chain.CopyStatus{Complete: true, Missing: []string{}}
	}
	for shard := range shards {
		status.Shards = append(status.Shards, chain.ShardStatus{Shard: shard, ChunkHeight: 1199})
	}
	return status
}

// pending is a node whose pod was just made and has no container yet.
func pending(node *policy.Node, warnings ...string) {
	node.Pod.CreationTimestamp = metav1.NewTime(now)
	node.Pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	node.Status, node.Warnings = nil, warnings
}

// notReady is a node that runs and does not take part just now.
func notReady(node *policy.Node, reasons ...string) {
	back(node, 0)
	node.Pod.Status.Conditions[0].Status = corev1.ConditionFalse
	node.NotReady = reasons
}

// noPod is a node without a pod.
func noPod(node *policy.Node, warnings ...string) {
	node.Pod, node.Status, node.Warnings = nil, nil, warnings
}

// incomplete is a producer whose copy of its shard lacks something.
func incomplete(node *policy.Node) {
	node.Status.Copy = &chain.CopyStatus{Missing: []string{lacking}}
}

// lacking is what a copy lacks, as a node says it.
const lacking = "shard 1 has not credited what was sent before height 900"

// back is a node that came, or went, some time ago.
func back(node *policy.Node, since time.Duration) {
	node.Pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-since))
}

// durable gives a network's nodes disks.
func durable(observation *policy.Observation) {
	observation.Network.Spec.Volume = &v1alpha1.VolumeSpec{}
}

// leaving is a node whose pod is being deleted.
func leaving(node *policy.Node) {
	node.Pod.DeletionTimestamp = &metav1.Time{Time: now}
}

// unscheduled is a node whose pod has no machine, in the words of the scheduler.
func unscheduled(node *policy.Node, words string) {
	pending(node)
	node.Pod.Spec.NodeName = ""
	node.Pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: words,
	}}
}

// waiting is a node whose container waits.
func waiting(node *policy.Node, reason, words string, warnings ...string) {
	pending(node, warnings...)
	node.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: words}},
	}}
}

// crashed is a node that ended and waits for its next start.
func crashed(node *policy.Node, last corev1.ContainerStateTerminated) {
	notReady(node)
	node.Status = nil
	node.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: "back-off 20s restarting failed container=shardnode",
		}},
		LastTerminationState: corev1.ContainerState{Terminated: &last},
	}}
}

// silentMachine is a node whose machine does not answer. Nobody told the cluster
// since that the pod does not run any more.
func silentMachine(node *policy.Node) {
	notReady(node)
	node.Status = nil
	node.Machine = policy.MachineOf("machine-0", &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "Kubelet stopped posting node status.",
		LastTransitionTime: metav1.NewTime(now.Add(-2 * time.Minute)),
	}}}})
}

// failed is a node whose pod was ended, or never begun, by its machine.
func failed(node *policy.Node, reason, words string) {
	node.Pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason, Message: words}
	node.Status = nil
}
