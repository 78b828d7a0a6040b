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
	}}
}
