// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

func throughput() row {
	crossShard := fmt.Sprintf("sum(%s)", told(rate("shardnode_shard_cross_shard_total", ofNetwork)))
	byRegion := fmt.Sprintf("sum by (region) (%s)", rate("shardnode_produced_transfers_total", ofRegions))
	failed := rate("shardnode_produced_failures_total", ofNetwork)
	blocks := fmt.Sprintf("quantile(0.5, %s)", rate("shardnode_finality_lag_seconds_count", ofNetwork))
	// A node counts failures from the first one on. Until then there are none, if there are nodes.
	none := fmt.Sprintf("0 * sum(%s)", rate("shardnode_produced_transfers_total", ofNetwork))
	return row{"Throughput", []cog.Builder[dashboard.Panel]{
		graph("TPS in total",
			"Transfers executed per second in all shards, and those of them whose receiver lives in another shard. "+
				"From finalised blocks.",
			units.Short, half,
			query{executed, "executed"}, query{crossShard, "to another shard"}),
		graph("TPS by region",
			"Transfers executed per second in the chunks that the region's validators produced, stacked: "+
				"the regions sum to the total. From finalised blocks.",
			units.Short, half,
			query{byRegion, "{{region}}"}).
			FillOpacity(15).
			Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal)),
		many("TPS by shard", "Transfers executed per second, stacked. From finalised blocks.",
			units.Short, 24,
			query{told(rate("shardnode_shard_transfers_total", ofShards)), "shard {{shard}}"}).
			FillOpacity(15).
			Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal)),
		graph("Transactions per block", "Transactions that finalised blocks hold in all shards, executed and failed, by the block.",
			units.Short, half,
			query{fmt.Sprintf("%s / %s", executed, blocks), "executed"},
			query{fmt.Sprintf("(sum(%s) or %s) / %s", failed, none, blocks), "failed"}),
		graph("Failed by reason", "Transactions per second that were in chunks of finalised blocks and moved nothing, by the reason.",
			units.Short, half,
			query{fmt.Sprintf(`sum by (reason) (%s) or label_replace(%s, "reason", "none", "", "")`, failed, none), "{{reason}}"}).
			AxisSoftMax(1),
	}}
}
