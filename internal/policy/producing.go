// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
)

// silentBlocks is how many blocks in a row hold no chunk of a shard before
// the shard counts as silent, at least two turns of every producer.
const silentBlocks = 10

// Producing says whether finalised blocks keep coming, with chunks of every
// shard. It is Unknown while no node answers.
func Producing(observation *observed.Network) metav1.Condition {
	best := observation.Best()
	if best == nil {
		return condition.New(v1alpha1.ConditionProducing, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer,
			"no node answers, so nothing is known of the chain")
	}
	no := func(reason, message string) metav1.Condition {
		return condition.New(v1alpha1.ConditionProducing, metav1.ConditionFalse, reason, message)
	}
	if stranger := otherGenesis(observation); stranger != "" {
		return no(v1alpha1.ReasonWrongGenesis, fmt.Sprintf(
			"%s follows another genesis document than the others: delete its volume claim and its pod", stranger))
	}
	if !best.Supply.Conserved {
		return no(v1alpha1.ReasonSupplyNotConserved, fmt.Sprintf(
			"the sum of all value at height %d is %d, but genesis made %d: keep the network's volumes and report this",
			best.FinalizedHeight, best.Supply.Sum(), best.Supply.Expected))
	}
	if best.FinalizedHeight == 0 {
		return no(v1alpha1.ReasonChainStalled, "no block is finalised yet: more than two thirds of the producers must take part")
	}
	if finalized := time.UnixMilli(best.FinalizedTimeMs); observation.Stalled(finalized) {
		return no(v1alpha1.ReasonChainStalled, fmt.Sprintf(
			"no block was finalised since %s (height %d): more than two thirds of the producers must take part",
			finalized.UTC().Format(time.RFC3339), best.FinalizedHeight))
	}
	if silent := silentShards(best, int(observation.Network.Spec.ProducersPerShard)); len(silent) > 0 {
		return no(v1alpha1.ReasonShardsNotProducing, fmt.Sprintf(
			"shards without a chunk in the latest blocks: %s. See the pods of their producers: kubectl get pods -l %s=%s,%s=%s",
			wording.List(silent), resources.LabelNetwork, observation.Network.Name, resources.LabelShard, silent[0]))
	}
	return condition.New(v1alpha1.ConditionProducing, metav1.ConditionTrue, v1alpha1.ReasonAllShardsProducing,
		fmt.Sprintf("finalised blocks hold chunks of all %d shards", len(best.Shards)))
}

// ShardsProducing counts the shards with a chunk in the latest blocks of a
// chain that moves.
func ShardsProducing(observation *observed.Network) int {
	best := observation.Best()
	if best == nil || best.FinalizedHeight == 0 || observation.Stalled(time.UnixMilli(best.FinalizedTimeMs)) {
		return 0
	}
	return len(best.Shards) - len(silentShards(best, int(observation.Network.Spec.ProducersPerShard)))
}

// otherGenesis is a node that follows another genesis document than most.
func otherGenesis(observation *observed.Network) string {
	genesis := observation.Genesis()
	for i := range observation.Nodes {
		if status := observation.Nodes[i].Status; status != nil && status.GenesisHash != genesis {
			return observation.Nodes[i].Validator.Name
		}
	}
	return ""
}

func silentShards(best *chain.Status, producers int) []string {
	window := uint64(max(silentBlocks, 2*producers))
	var silent []string
	for i := range best.Shards {
		if shard := &best.Shards[i]; shard.ChunkHeight == 0 || shard.ChunkHeight+window < best.FinalizedHeight {
			silent = append(silent, strconv.Itoa(shard.Shard))
		}
	}
	return silent
}
