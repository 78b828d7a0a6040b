// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/test/networks"
)

// archived is a healthy network of two shards at height 30000, whose last node is an
// archive that has states so many blocks behind.
func archived(t *testing.T, behind ...uint64) *observed.Network {
	t.Helper()
	const height = 30_000
	observation := networks.HealthyArchived(t, 2, 2, 0, 0, 1)
	observation.Network.Spec.Node.Storage = v1alpha1.NodeStorage{SnapshotIntervalBlocks: 1000, RetentionBlocks: 20_000}
	networks.All(observation, func(node *observed.Node) {
		for i := range node.Status.Shards {
			node.Status.Shards[i].ExecutedHeight = height
		}
	})
	keeps := &chain.ArchiveStatus{}
	for shard, blocks := range behind {
		keeps.Shards = append(keeps.Shards, chain.ArchivedStatus{Shard: shard, ArchivedHeight: ptr.To(height - blocks)})
	}
	observation.Nodes[archiveOf(observation)].Status.Archive = keeps
	return observation
}

// archiveOf is the last node.
func archiveOf(observation *observed.Network) int { return len(observation.Nodes) - 1 }

func TestStatesArchived(t *testing.T) {
	t.Parallel()
	silent, alone := archived(t, 7, 8), archived(t, 7, 8)
	silent.Nodes[archiveOf(silent)].Status = nil
	networks.All(alone, func(node *observed.Node) { node.Status = nil })
	cases := map[string]struct {
		observation *observed.Network
		status      metav1.ConditionStatus
		reason      string
		words       string
	}{
		"it keeps up":     {archived(t, 900, 1300), metav1.ConditionTrue, v1alpha1.ReasonArchivesCurrent, "shard 1 is 1300 blocks behind"},
		"it is late":      {archived(t, 10_501, 1000), metav1.ConditionFalse, v1alpha1.ReasonArchivesBehind, "not for long: 0."},
		"it is too late":  {archived(t, 9, 20_001), metav1.ConditionFalse, v1alpha1.ReasonStatesNotArchived, "an archive: 1."},
		"it is silent":    {silent, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer, "nothing is known of quickstart-a0"},
		"all are silent":  {alone, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer, "nothing is known of quickstart-a0"},
		"it just started": {archived(t), metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer, "nothing is known of quickstart-a0"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			networks.CheckCondition(t, policy.StatesArchived(test.observation), test.status, test.reason, test.words)
		})
	}
}

// Of a network that is stopped, nothing is said of its archives, if it has any.
func TestArchivesOfAStoppedNetwork(t *testing.T) {
	t.Parallel()
	network := mortal(v1alpha1.LifetimeStop)
	if found := meta.FindStatusCondition(policy.Stopped(network, 0, 0), v1alpha1.ConditionStatesArchived); found != nil {
		t.Errorf("without archives, the condition is %+v", found)
	}
	network.Spec.ArchiveNodes = 1
	found := meta.FindStatusCondition(policy.Stopped(network, 0, 0), v1alpha1.ConditionStatesArchived)
	if found == nil {
		t.Fatal("there is no condition")
	}
	networks.CheckCondition(t, *found, metav1.ConditionUnknown, v1alpha1.ReasonStopped, "has ended")
}

func troublesOfArchives(t *testing.T) []trouble {
	t.Helper()
	silent := archived(t, 7, 8)
	silent.Nodes[archiveOf(silent)].Status = nil
	return []trouble{
		{v1alpha1.ReasonArchivesBehind, policy.StatesArchived(archived(t, 1200, 10_700))},
		{v1alpha1.ReasonStatesNotArchived, policy.StatesArchived(archived(t, 20_200, 20_100))},
		{v1alpha1.ReasonNoAnswer, policy.StatesArchived(silent)},
	}
}
