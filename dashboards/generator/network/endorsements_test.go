// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"fmt"
	"testing"
)

// gauges are the same two gauges of a node for each shard, in the order of the
// shards: the stake that endorsed, and the committee's.
func gauges(node string, stakes ...[2]int) []series {
	var all []series
	for shard, stake := range stakes {
		labels := fmt.Sprintf(`shard="%d"`, shard)
		all = append(all,
			labelled("small", "shardnode_shard_endorsed_stake", node, labels, fmt.Sprintf("%dx44", stake[0])),
			labelled("small", "shardnode_shard_mandated_stake", node, labels, fmt.Sprintf("%dx44", stake[1])))
	}
	return all
}

// Of three nodes one is behind: it still has the figures of an earlier block.
func TestEndorsedStake(t *testing.T) {
	given := gauges("a1", [2]int{100, 100}, [2]int{70, 100}, [2]int{75, 100})
	given = append(given, gauges("a2", [2]int{100, 100}, [2]int{70, 100}, [2]int{75, 100})...)
	given = append(given, gauges("b1", [2]int{90, 100}, [2]int{90, 120}, [2]int{96, 120})...)
	evaluate(t, "Endorsed stake by shard", "shard {{shard}}", given,
		[]sample{{`{shard="1"}`, 0.7}, {`{shard="2"}`, 0.75}, {`{shard="0"}`, 1}})
}

func TestEndorsedStakeIsOfTheTenLeastShards(t *testing.T) {
	var stakes [][2]int
	var want []sample
	for shard := range 12 {
		// The shards with the least are the last.
		stakes = append(stakes, [2]int{100 - 2*shard, 100})
	}
	for shard := 11; shard > 1; shard-- {
		want = append(want, sample{fmt.Sprintf(`{shard="%d"}`, shard), float64(100-2*shard) / 100})
	}
	evaluate(t, "Endorsed stake by shard", "shard {{shard}}", gauges("a1", stakes...), want)
}

func TestNoChunkHasNoEndorsedStake(t *testing.T) {
	evaluate(t, "Endorsed stake by shard", "shard {{shard}}", everywhere(finalized, "", 4), nil)
}
