// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

func blocks() row {
	const blockTime, lag = "shardnode_block_time_seconds", "shardnode_finality_lag_seconds"
	return row{"Blocks", []cog.Builder[dashboard.Panel]{
		graph("Block time",
			"Difference of the timestamps of consecutive finalised blocks. Percentiles are interpolated between the "+
				"histogram's bounds.",
			units.Seconds, third,
			query{mean(blockTime, ofNetwork), "mean"},
			query{percentile("0.5", "", blockTime, ofNetwork), "p50"},
			query{percentile("0.95", "", blockTime, ofNetwork), "p95"},
			query{percentile("0.99", "", blockTime, ofNetwork), "p99"}),
		graph("Finality lag, 95th percentile",
			"Time from a block's timestamp to its processing as finalised by a node, by the node's region. Clocks that "+
				"differ show here.",
			units.Seconds, third,
			query{percentile("0.95", "region", lag, ofRegions), "{{region}}"}),
		graph("Height", "The highest block that any node has verified or proposed, and the highest that any has finalised.",
			units.Number, third,
			query{fmt.Sprintf("max(%s)", metric("shardnode_height", ofNetwork)), "verified"},
			query{fmt.Sprintf("max(%s)", metric("shardnode_finalized_height", ofNetwork)), "finalised"}),
	}}
}
