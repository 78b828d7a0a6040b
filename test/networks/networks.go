// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// Now is when the networks are seen.
var Now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// Healthy is a network whose nodes all take part, answer, and run what the spec
// says.
func Healthy(t rapid.TB, shards, producers int32) *observed.Network {
	t.Helper()
	return HealthyWith(t, shards, producers, 0)
}

// HealthyWith is a healthy network with chunk validators, the last of its nodes.
func HealthyWith(t rapid.TB, shards, producers, chunkValidators int32) *observed.Network {
	t.Helper()
	return HealthyServed(t, shards, producers, chunkValidators, 0)
}

// HealthyServed is a healthy network with chunk validators and then rpc nodes, the
// last of its nodes.
func HealthyServed(t rapid.TB, shards, producers, chunkValidators, rpcNodes int32) *observed.Network {
	t.Helper()
	return HealthyArchived(t, shards, producers, chunkValidators, rpcNodes, 0)
}

// HealthyArchived is a healthy network with archives after all others.
func HealthyArchived(
	t rapid.TB, shards, producers, chunkValidators, rpcNodes, archives int32,
) *observed.Network {
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
	observation := &observed.Network{Network: network, Plan: plan, Now: Now}
	for i, validator := range plan.Nodes {
		observation.Nodes = append(observation.Nodes, observed.Node{
			Validator: validator,
			Pod:       ReadyPod(validator.Name, i),
			Status:    Status(validator, int(shards)),
		})
		observation.Nodes[i].Status.Peers = len(plan.Nodes) - 1
	}
	return observation
}

// ReadyPod is the pod of a node that takes part for an hour.
func ReadyPod(validator string, index int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: resources.PodName(validator), CreationTimestamp: metav1.NewTime(Now.Add(-time.Hour)),
		},
		Spec: corev1.PodSpec{
			NodeName:   "machine-" + strconv.Itoa(index),
			Containers: []corev1.Container{{Name: resources.ContainerName, Image: "ghcr.io/shardyard/shardnode:0.1.0"}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{
				Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(Now.Add(-time.Hour)),
			}},
			ContainerStatuses: []corev1.ContainerStatus{{
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Started: ptr.To(true),
			}},
		},
	}
}

// Status is what a node says that is at height 1200, with a chunk of every
// shard in the block before.
func Status(validator topology.Validator, shards int) *chain.Status {
	status := &chain.Status{
		Node:            validator.Name,
		GenesisHash:     "6f1c",
		Height:          1201,
		FinalizedHeight: 1200,
		FinalizedTimeMs: Now.Add(-time.Second).UnixMilli(),
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

// Durable gives a network's nodes disks.
func Durable(observation *observed.Network) {
	observation.Network.Spec.Volume = &v1alpha1.VolumeSpec{}
}
