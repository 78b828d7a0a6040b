// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

func chunks() row {
	const execution = "shardnode_execution_seconds"
	return row{"Chunks", []cog.Builder[dashboard.Panel]{
		many("Missed chunks by shard", "Part of the finalised blocks that hold no chunk of the shard.",
			units.PercentUnit, half,
			query{missed(ofShards), "shard {{shard}}"}).
			AxisSoftMax(0.01),
		mostMissed(),
		graph("Why chunks are missed",
			"Chunks per second that finalised blocks lack, by the reason of the leader that proposed the block: no header of "+
				"it came in time, no quorum of its committee had endorsed it, the leader lacked its part of the body or "+
				"receipts, the header had other results than the leader or was against the rules, or blocks with chunks "+
				"had been proposed in vain. In the chosen regions.",
			units.Short, half,
			query{fmt.Sprintf("sum by (reason) (%s)", rate("shardnode_proposed_missed_chunks_total", ofRegions)), "{{reason}}"}),
		graph("Chunks produced by region", "Chunks per second that the region's nodes produced.",
			units.Short, half,
			query{fmt.Sprintf("sum by (region) (%s)", rate("shardnode_chunks_produced_total", ofRegions)), "{{region}}"}),
		graph("Chunk execution time", "Time that a node takes to execute one chunk of its shard, in the chosen regions.",
			units.Seconds, half,
			query{mean(execution, ofRegions), "mean"},
			query{percentile("0.5", "", execution, ofRegions), "p50"},
			query{percentile("0.99", "", execution, ofRegions), "p99"}),
		leastEndorsed(),
		graph("Time to check chunks, 99th percentile",
			"Producers make a state witness of each execution; a chunk validator has it once enough of its parts have come, "+
				"and then executes from it. In the chosen regions.",
			units.Seconds, half,
			query{percentile("0.99", "", "shardnode_witness_make_seconds", ofRegions), "make witness"},
			query{percentile("0.99", "", "shardnode_witness_receive_seconds", ofRegions), "receive witness"},
			query{percentile("0.99", "", "shardnode_witness_validation_seconds", ofRegions), "execute from witness"}),
		graph("Bodies recovered from parts",
			"Chunks per second whose body a node did not get from anybody, and made from the parts of others, or found that "+
				"there is none that is valid. In the chosen regions.",
			units.Short, half,
			query{recoveries("recovered"), "recovered"},
			query{recoveries("invalid"), "invalid"}),
		many("Parts of bodies held by validator",
			"Memory of the parts of other shards' bodies. None where they are saved to disk.",
			units.BytesIEC, half,
			query{nodes(metric("shardnode_chunk_parts_held_bytes", ofRegions)), "{{node}}"}),
	}}
}

// recoveries are the chunks per second that came to this result.
func recoveries(result string) string {
	matchers := fmt.Sprintf("%s, result=%q", ofRegions, result)
	return fmt.Sprintf("sum(%s)", rate("shardnode_body_recoveries_total", matchers))
}

// Pixels of a bar and of the text beside it: ten bars fit into the panel.
const (
	barHeight = 14
	textSize  = 12
)

// mostMissed shows the shards that lost the most chunks.
func mostMissed() cog.Builder[dashboard.Panel] {
	missed := told(fmt.Sprintf("increase(%s[$__range])", metric("shardnode_shard_missed_chunks_total", ofShards)))
	return bars("Most missed chunks",
		"The ten shards that were left out of the most finalised blocks in the range, with how many these were.",
		units.Number, query{fmt.Sprintf("sort_desc(topk(10, %s))", missed), "shard {{shard}}"})
}

// leastEndorsed shows the shards whose chunks came closest to being missed for
// want of endorsements. Each node's figures are of one header, so they are
// compared before the nodes are.
func leastEndorsed() cog.Builder[dashboard.Panel] {
	endorsed := told(fmt.Sprintf("%s / %s",
		metric("shardnode_shard_endorsed_stake", ofShards), metric("shardnode_shard_mandated_stake", ofShards)))
	return bars("Endorsed stake by shard",
		"Part of its committee's stake that endorsed a shard's last chunk: the ten shards with the least. A chunk needs more "+
			"than two thirds.",
		units.PercentUnit, query{fmt.Sprintf("sort(bottomk(10, %s))", endorsed), "shard {{shard}}"}).
		Decimals(1).
		Max(1)
}

// bars is a panel with the latest value of up to ten series, in their order.
func bars(title, description, unit string, query query) *bargauge.PanelBuilder {
	return bargauge.NewPanelBuilder().
		Title(title).
		Description(description).
		Datasource(datasource()).
		Unit(unit).
		Decimals(0).
		Min(0).
		Span(half).Height(graphHeight).
		Orientation(common.VizOrientationHorizontal).
		DisplayMode(common.BarGaugeDisplayModeGradient).
		Sizing(common.BarGaugeSizingManual).
		MinVizHeight(barHeight).MaxVizHeight(barHeight).
		Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(textSize).ValueSize(textSize)).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		Thresholds(plain()).
		WithTarget(target(query).RefId("A").Instant())
}
