// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/test/networks"
)

// chunkAt has every node say when the last chunk of a shard was.
func chunkAt(observation *observed.Network, shard int, height uint64) {
	for i := range observation.Nodes {
		observation.Nodes[i].Status.Shards[shard].ChunkHeight = height
	}
}

func TestProducing(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*observed.Network)
		status metav1.ConditionStatus
		reason string
		want   string
		// shards are how many count as producing, of two.
		shards int
	}{
		"all shards": {
			func(*observed.Network) {},
			metav1.ConditionTrue, v1alpha1.ReasonAllShardsProducing, "chunks of all 2 shards", 2,
		},
		"one node answers": {
			func(observation *observed.Network) {
				for i := range observation.Nodes[1:] {
					observation.Nodes[1+i].Status = nil
				}
			},
			metav1.ConditionTrue, v1alpha1.ReasonAllShardsProducing, "", 2,
		},
		"a node is behind": {
			func(observation *observed.Network) {
				late := observation.Nodes[0].Status
				late.FinalizedHeight, late.FinalizedTimeMs = 10, networks.Now.Add(-time.Hour).UnixMilli()
				late.Shards[0].ChunkHeight = 0
			},
			metav1.ConditionTrue, v1alpha1.ReasonAllShardsProducing, "", 2,
		},
		"no answer": {
			func(observation *observed.Network) {
				for i := range observation.Nodes {
					observation.Nodes[i].Status = nil
				}
			},
			metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer, "no node answers", 0,
		},
		"no block": {
			func(observation *observed.Network) {
				for i := range observation.Nodes {
					observation.Nodes[i].Status.FinalizedHeight = 0
				}
			},
			metav1.ConditionFalse, v1alpha1.ReasonChainStalled, "no block is finalised yet", 0,
		},
		"15 seconds without a block": {
			func(observation *observed.Network) { networks.FinalizedAt(observation, "2026-11-21T11:59:45Z") },
			metav1.ConditionTrue, v1alpha1.ReasonAllShardsProducing, "", 2,
		},
		"16 seconds without a block": {
			func(observation *observed.Network) { networks.FinalizedAt(observation, "2026-11-21T11:59:44Z") },
			metav1.ConditionFalse, v1alpha1.ReasonChainStalled, "no block was finalised since 2026-11-21T11:59:44Z (height 1200)", 0,
		},
		"slow by its spec": {
			func(observation *observed.Network) {
				observation.Network.Spec.Protocol.MinBlockTimeMilliseconds = 60_000
				networks.FinalizedAt(observation, "2026-11-21T11:57:00Z")
			},
			metav1.ConditionTrue, v1alpha1.ReasonAllShardsProducing, "", 2,
		},
		"silent by ten blocks": {
			func(observation *observed.Network) { chunkAt(observation, 0, 1190) },
			metav1.ConditionTrue, v1alpha1.ReasonAllShardsProducing, "", 2,
		},
		"silent by eleven blocks": {
			func(observation *observed.Network) { chunkAt(observation, 0, 1189) },
			metav1.ConditionFalse, v1alpha1.ReasonShardsNotProducing,
			"latest blocks: 0. See the pods of their producers: " +
				"kubectl get pods -l shardyard.dev/network=quickstart,shardyard.dev/shard=0", 1,
		},
		"silent since genesis": {
			func(observation *observed.Network) {
				for i := range observation.Nodes {
					observation.Nodes[i].Status.FinalizedHeight = 3
				}
				chunkAt(observation, 0, 3)
				chunkAt(observation, 1, 0)
			},
			metav1.ConditionFalse, v1alpha1.ReasonShardsNotProducing, "latest blocks: 1.", 1,
		},
		"wrong genesis of the node that is ahead": {
			func(observation *observed.Network) {
				observation.Nodes[0].Status.GenesisHash = "other"
				observation.Nodes[0].Status.FinalizedHeight = 100_000
			},
			metav1.ConditionFalse, v1alpha1.ReasonWrongGenesis, "quickstart-s0-p0 follows another genesis document", 2,
		},
		"wrong genesis": {
			func(observation *observed.Network) { observation.Nodes[2].Status.GenesisHash = "other" },
			metav1.ConditionFalse, v1alpha1.ReasonWrongGenesis, "quickstart-s1-p0 follows another genesis document", 2,
		},
		"supply": {
			func(observation *observed.Network) {
				for i := range observation.Nodes {
					observation.Nodes[i].Status.Supply.InFlight, observation.Nodes[i].Status.Supply.Conserved = 11, false
				}
			},
			metav1.ConditionFalse, v1alpha1.ReasonSupplyNotConserved, "at height 1200 is 1001, but genesis made 1000", 2,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, 2, 2)
			test.change(observation)
			networks.CheckCondition(t, policy.Producing(observation), test.status, test.reason, test.want)
			if got := policy.ShardsProducing(observation); got != test.shards {
				t.Errorf("%d shards produce, want %d", got, test.shards)
			}
		})
	}
}

// A shard of many producers has had a chance only after two turns of each.
func TestSilenceOfManyProducers(t *testing.T) {
	t.Parallel()
	for height, want := range map[uint64]string{
		1200 - 32: v1alpha1.ReasonAllShardsProducing,
		1200 - 33: v1alpha1.ReasonShardsNotProducing,
	} {
		observation := networks.Healthy(t, 1, 16)
		chunkAt(observation, 0, height)
		if got := policy.Producing(observation); got.Reason != want {
			t.Errorf("with the last chunk at height %d, the reason is %s, want %s", height, got.Reason, want)
		}
	}
}

// A message names some of many shards.
func TestManySilentShards(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 70, 1)
	for shard := range 12 {
		chunkAt(observation, shard, 1)
	}
	networks.CheckCondition(t, policy.Producing(observation), metav1.ConditionFalse, v1alpha1.ReasonShardsNotProducing,
		"latest blocks: 0, 1, 2, 3, 4, 5, 6, 7 and 4 more.")
}
