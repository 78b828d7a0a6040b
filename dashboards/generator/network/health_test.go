// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"slices"
	"testing"
)

const (
	blockCount = "shardnode_block_time_seconds_count"
	finalized  = "shardnode_finalized_height"
	lost       = "shardnode_shard_missed_chunks_total"
)

// chunks are four blocks a second, of which a part holds no chunk of the second
// shard.
func chunks(missing float64) []series {
	return slices.Concat(everywhere(blockCount, "", 4),
		everywhere(lost, `shard="0"`, 0), everywhere(lost, `shard="1"`, 4*missing))
}

func TestMissedChunks(t *testing.T) {
	evaluate(t, "Missed chunks by shard", "shard {{shard}}", chunks(0.25), []sample{{`{shard="0"}`, 0}, {`{shard="1"}`, 0.25}})
	evaluate(t, "Shards producing", "shards", chunks(0.25), []sample{{"{}", 2}})
}

func TestShardsThatMissAllChunksDoNotProduce(t *testing.T) {
	evaluate(t, "Shards producing", "shards", chunks(1), []sample{{"{}", 1}})
}

func TestNoShardProducesWithoutBlocks(t *testing.T) {
	stalled := slices.Concat(everywhere(blockCount, "", 0), everywhere(lost, `shard="0"`, 0))
	evaluate(t, "Shards producing", "shards", stalled, []sample{{"{}", 0}})
}

func TestBlockTimeIsTheMean(t *testing.T) {
	given := append(everywhere(blockCount, "", 4), everywhere("shardnode_block_time_seconds_sum", "", 1)...)
	evaluate(t, "Mean block time", "block time", given, []sample{{"{}", 0.25}})
}

// Of three validators one hangs and another has gone.
func TestValidators(t *testing.T) {
	given := []series{
		counter(finalized, "a1", "", 4),
		labelled("small", finalized, "a2", "", "700x44"),
		labelled("small", finalized, "b1", "", "1000+60x20 stale"),
	}
	for legend, want := range map[string]float64{"reporting": 2, "finalising": 1, "seen": 3} {
		evaluate(t, "Validators", legend, given, []sample{{"{}", want}})
	}
}

func TestFinalisedBlocks(t *testing.T) {
	const processed = "shardnode_finality_lag_seconds_count"
	given := []series{counter(processed, "a1", "", 4), counter(processed, "a2", "", 0)}
	evaluate(t, "Blocks finalised by validator", "{{node}}", given, []sample{{`{node="a1"}`, 4}, {`{node="a2"}`, 0}})
}

func TestRefusals(t *testing.T) {
	signed := everywhere("shardnode_load_signed_total", "", 10)
	refused := counter("shardnode_pool_rejected_total", "a1", `reason="full"`, 3)
	evaluate(t, "Refused by the pools", "refused", append(signed, refused), []sample{{"{}", 3}})
	evaluate(t, "Refused by the pools", "refused", signed, []sample{{"{}", 0}})
	evaluate(t, "Refused by the pools", "refused", everywhere(finalized, "", 4), nil)
}
