// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

func overview() row {
	return row{"Overview", []cog.Builder[dashboard.Panel]{
		latest("TPS", "Transfers executed per second in all shards, as headers of finalised blocks commit to them.",
			units.Short, 5, query{executed, "TPS"}),
		latest("Mean block time", "Mean difference of the timestamps of consecutive finalised blocks.",
			units.Seconds, 4, query{mean("shardnode_block_time_seconds", ofNetwork), "block time"}),
		latest("Mean finality lag",
			"Mean time from a block's timestamp to its processing as finalised by a node, of half of the nodes. One that catches up "+
				"processes many blocks, all late.",
			units.Seconds, 4, query{finalityLag, "lag"}),
		latest("Shards producing", "Shards of which finalised blocks hold chunks.",
			units.Number, 4, query{producing(), "shards"}),
		latest("Validators",
			"Reporting: their metrics are scraped. Finalising: their finalised height moves. "+
				"Seen: they reported at any time of the range.",
			units.Number, 7,
			query{fmt.Sprintf("count(%s)", nodes(metric("shardnode_finalized_height", ofNetwork))), "reporting"},
			query{finalising, "finalising"},
			query{fmt.Sprintf("count(%s)", nodes(fmt.Sprintf("last_over_time(%s[$__range])",
				metric("shardnode_finalized_height", ofNetwork)))), "seen"}).
			TextMode(common.BigValueTextModeValueAndName),
	}}
}

// producing counts the shards whose chunks are not all missed. While no block
// is finalised, no part of the blocks is missed either, and the count is 0.
func producing() string {
	return fmt.Sprintf("sum(%s < bool 1)", missed(ofNetwork))
}

// finalising counts the nodes that process finalised blocks.
var finalising = fmt.Sprintf("sum(%s > bool 0)",
	nodes(fmt.Sprintf("changes(%s[$__rate_interval])", metric("shardnode_finalized_height", ofNetwork))))

// finalityLag is what most nodes say: a mean of all their blocks is that of the node which
// catches up.
var finalityLag = fmt.Sprintf("quantile(0.5, %s)",
	nodes(fmt.Sprintf("%s / (%s > 0)",
		rate("shardnode_finality_lag_seconds_sum", ofNetwork), rate("shardnode_finality_lag_seconds_count", ofNetwork))))

// nodes has one element for each node.
func nodes(expression string) string {
	return fmt.Sprintf("max by (node) (%s)", expression)
}
