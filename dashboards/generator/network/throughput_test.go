// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"slices"
	"testing"
)

const transfers = "shardnode_shard_transfers_total"

// twoShards is a chain of 100 and 50 transfers per second, which four nodes in
// two regions see.
func twoShards() []series {
	return slices.Concat(everywhere(transfers, `shard="0"`, 100), everywhere(transfers, `shard="1"`, 50))
}

func TestTransfersAreCountedOnce(t *testing.T) {
	total := []sample{{"{}", 150}}
	evaluate(t, "TPS", "TPS", twoShards(), total)
	evaluate(t, "TPS in total", "executed", twoShards(), total)
	evaluate(t, "Offered and executed", "executed", twoShards(), total)
	evaluate(t, "TPS by shard", "shard {{shard}}", twoShards(), []sample{{`{shard="0"}`, 100}, {`{shard="1"}`, 50}})
}

// Each transfer is in a chunk that one node produced.
func TestRegionsSumToTheTotal(t *testing.T) {
	const produced = "shardnode_produced_transfers_total"
	given := []series{
		counter(produced, "a1", "", 50), counter(produced, "a2", "", 20),
		counter(produced, "b1", "", 50), counter(produced, "b2", "", 30),
	}
	evaluate(t, "TPS by region", "{{region}}", given, []sample{{`{region="region-a"}`, 70}, {`{region="region-b"}`, 80}})
}

func TestOneNodeDoesNotMoveTheRate(t *testing.T) {
	for name, perSecond := range map[string]float64{"hangs": 0, "catches up": 2000} {
		t.Run(name, func(t *testing.T) {
			given := twoShards()
			given[2] = counter(transfers, "b1", `shard="0"`, perSecond)
			evaluate(t, "TPS", "TPS", given, []sample{{"{}", 150}})
		})
	}
}

func TestRestartDoesNotMoveTheRate(t *testing.T) {
	given := twoShards()
	// After two minutes without samples, the node goes on where the chain is.
	given[2] = labelled("small", transfers, "b1", `shard="0"`, "1000+1500x28 _x8 56500+1500x6")
	evaluate(t, "TPS", "TPS", given, []sample{{"{}", 150}})
}

func TestOtherNetworksAreNotCounted(t *testing.T) {
	other := labelled("other", transfers, "a1", `shard="2"`, "0+1500x44")
	evaluate(t, "TPS", "TPS", append(twoShards(), other), []sample{{"{}", 150}})
}

func TestStalledChainHasNoThroughput(t *testing.T) {
	evaluate(t, "TPS", "TPS", everywhere(transfers, `shard="0"`, 0), []sample{{"{}", 0}})
}
