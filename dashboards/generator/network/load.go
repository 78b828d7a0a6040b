// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

func load() row {
	signed := fmt.Sprintf("sum(%s)", rate("shardnode_load_signed_total", ofNetwork))
	rejected := fmt.Sprintf("sum(%s)", rate("shardnode_pool_rejected_total", ofNetwork))
	limited := fmt.Sprintf("sum(%s)", rate("shardnode_chunks_limited_total", ofRegions))
	produced := fmt.Sprintf("sum(%s)", rate("shardnode_chunks_produced_total", ofRegions))
	return row{"Load", []cog.Builder[dashboard.Panel]{
		graph("Offered and executed",
			"Transfers per second: what the generators of all nodes aim at and what they sign is offered; "+
				"only what finalised blocks commit to is executed.",
			units.Short, half,
			query{fmt.Sprintf("sum(%s)", metric("shardnode_load_target_tps", ofNetwork)), "offered (target)"},
			query{signed, "offered (signed)"},
			query{executed, "executed"}),
		graph("Refused by the pools", "Transactions per second that nodes refused, for whatever reason.",
			units.Short, 6,
			// A node counts refusals from the first one on. Until then there are none, if there are nodes.
			query{fmt.Sprintf("%s or 0 * %s", rejected, signed), "refused"}).
			AxisSoftMax(1),
		graph("Waiting in the pools", "Transactions in the pools of a region's nodes.",
			units.Short, 6,
			query{fmt.Sprintf("sum by (region) (%s)", metric("shardnode_pool_transactions", ofRegions)), "{{region}}"}),
		graph("Chunks at a limit",
			"Part of the chunks of the chosen regions' nodes that would have had more transactions but for a limit: the size "+
				"of chunks, their state witness, missed chunks before, or a congested receiver.",
			units.PercentUnit, half,
			query{fmt.Sprintf("(%s or 0 * %s) / %s", limited, produced, produced), "limited"}).
			AxisSoftMax(0.01),
		graph("Congestion", "Blocks that the shard farthest behind is behind with crediting receipts: above four, nothing more is "+
			"sent to it. And transfers that wait for such shards in the pools of all nodes.",
			units.Short, half,
			query{fmt.Sprintf("max(%s)", told(metric("shardnode_shard_blocks_behind", ofNetwork))), "blocks behind"},
			query{fmt.Sprintf("sum(%s)", metric("shardnode_pool_waiting", ofNetwork)), "transfers waiting"}).
			AxisSoftMax(5),
	}}
}
