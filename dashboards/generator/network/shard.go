// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// ShardDashboard builds the dashboard of one shard.
func ShardDashboard() (dashboard.Dashboard, error) {
	variables := append(chosenNetwork(),
		labelValues("shard", "Shard", metric("shardnode_shard_transfers_total", ofNetwork)), scrapeInterval(nodesScrape))
	return build("Shardyard shard", "shardyard-shard",
		"One shard of a network: what finalised blocks say of its chunks, and what its producers do.",
		variables, shardChunks(), shardProducers())
}

// shardChunks is what finalised blocks say, which all nodes see.
func shardChunks() row {
	transfers := told(rate("shardnode_shard_transfers_total", ofShards))
	endorsed := told(fmt.Sprintf("%s / %s",
		metric("shardnode_shard_endorsed_stake", ofShards), metric("shardnode_shard_mandated_stake", ofShards)))
	behind := told(metric("shardnode_shard_blocks_behind", ofShards))
	return row{"From finalised blocks", []cog.Builder[dashboard.Panel]{
		latest("Transfers per second", "Transfers of the shard's accounts that are executed per second.",
			units.Short, 6, query{transfers, "shard {{shard}}"}),
		latest("Missed chunks", "Part of the finalised blocks that hold no chunk of the shard.",
			units.PercentUnit, 6, query{missed(ofShards), "shard {{shard}}"}),
		latest("Endorsed stake", "Part of its committee's stake that endorsed the shard's last chunk. It needs more than two thirds, "+
			"and goes into a block once it has them.",
			units.PercentUnit, 6, query{endorsed, "shard {{shard}}"}),
		latest("Crediting behind", "Blocks that the shard is behind with crediting receipts. Above four, nothing more is sent to it.",
			units.Number, 6, query{behind, "shard {{shard}}"}),
		graph("Transfers and credits",
			"Transfers of the shard's accounts per second, those of them to another shard, and credits to its accounts.",
			units.Short, half,
			query{transfers, "transfers"},
			query{told(rate("shardnode_shard_cross_shard_total", ofShards)), "to another shard"},
			query{told(rate("shardnode_shard_credits_total", ofShards)), "credits"}),
		graph("Chunks missed over time", "Part of the finalised blocks that hold no chunk of the shard.",
			units.PercentUnit, 6, query{missed(ofShards), "missed"}).
			AxisSoftMax(0.01),
		graph("Crediting behind over time", "Blocks that the shard is behind with crediting receipts.",
			units.Number, 6, query{behind, "blocks"}).
			AxisSoftMax(5),
	}}
}

// shardProducers is what the shard's producers say of themselves.
func shardProducers() row {
	produced := fmt.Sprintf("sum by (node) (%s)", rate("shardnode_chunks_produced_total", ofProducers))
	return row{"Producers", []cog.Builder[dashboard.Panel]{
		graph("Chunks by producer", "Chunks per second that each producer of the shard makes. They take turns.",
			units.Short, third, query{produced, "{{node}}"}),
		graph("Executing behind by producer",
			"Blocks between a producer's last finalised block and the last chunk of the shard that it executed.",
			units.Number, third, query{executingBehind(ofProducers), "{{node}}"}).
			AxisSoftMax(10),
		graph("Execution by producer, 99th percentile", "Time to execute one chunk of the shard and make that durable.",
			units.Seconds, third,
			query{percentile("0.99", "node", "shardnode_execution_seconds", ofProducers), "{{node}}"}),
		graph("Making witnesses, 99th percentile", "Time that a producer takes to make one state witness and its parts.",
			units.Seconds, third,
			query{percentile("0.99", "node", "shardnode_witness_make_seconds", ofProducers), "{{node}}"}),
		graph("Transactions in the pool", "Transactions in the pool of each producer of the shard.",
			units.Short, third, query{nodes(metric("shardnode_pool_transactions", ofProducers)), "{{node}}"}),
		graph("Chunk size limit", "The most transactions that the chunk which a producer made last could have.",
			units.Short, third, query{nodes(metric("shardnode_chunk_transactions_limit", ofProducers)), "{{node}}"}),
	}}
}
