// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

func validators() row {
	cpu := fmt.Sprintf("sum by (node) (%s)", rate("shardnode_process_cpu_seconds_total", ofRegions))
	finalised := nodes(rate("shardnode_finality_lag_seconds_count", ofRegions))
	peers := metric("shardnode_peers", ofRegions)
	return row{"Validators", []cog.Builder[dashboard.Panel]{
		many("CPU by validator", "Processors that the node's process keeps busy.",
			units.Short, half, query{cpu, "{{node}}"}),
		many("Memory by validator", "Resident memory of the node's process.",
			units.BytesIEC, half, query{nodes(metric("shardnode_process_resident_memory_bytes", ofRegions)), "{{node}}"}),
		many("Blocks finalised by validator",
			"Blocks per second that the node processes as finalised. One that is lower than the others falls behind, "+
				"one that is higher catches up.",
			units.Short, half, query{finalised, "{{node}}"}),
		graph("Peers", "Connected peers of a node in the chosen regions: the fewest and the most.",
			units.Number, 6,
			query{fmt.Sprintf("min(%s)", peers), "fewest"},
			query{fmt.Sprintf("max(%s)", peers), "most"}),
		graph("Validators over time", "Nodes whose metrics are scraped, and nodes whose finalised height moves.",
			units.Number, 6,
			query{fmt.Sprintf("count(%s)", nodes(metric("shardnode_finalized_height", ofNetwork))), "reporting"},
			query{finalising, "finalising"}),
	}}
}
