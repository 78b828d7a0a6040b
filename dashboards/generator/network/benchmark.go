// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// What a run of a benchmark is judged by, besides what is executed.
var (
	// askedFor is what the generators of all nodes were told to sign: by a load
	// profile, or by the controller that follows the block time.
	askedFor    = fmt.Sprintf("sum(%s)", metric("shardnode_load_target_tps", ofNetwork))
	meanBlock   = mean("shardnode_block_time_seconds", ofNetwork)
	missedOfAll = fmt.Sprintf("avg(%s)", missed(ofNetwork))
	// cpuPerTransfer is not there while nothing is executed.
	cpuPerTransfer = fmt.Sprintf("sum(%s) / (%s > 0)", rate("shardnode_process_cpu_seconds_total", ofNetwork), executed)
)

// BenchmarkDashboard builds the dashboard of one run of a benchmark, and of an
// earlier one beside it.
func BenchmarkDashboard() (dashboard.Dashboard, error) {
	variables := append(chosenNetwork(),
		// No node knows at which block time a controller aims.
		choice("target", "Target block time in seconds", "1.5", "1.5,0.25,0.5,1,2,3"),
		choice("earlier", "Compared with what was this long before", "1d", "10m,30m,1h,6h,12h,1d,1w,2w,4w"),
		scrapeInterval(nodesScrape))
	return build("Shardyard benchmark", "shardyard-benchmark",
		"A run of a benchmark: what was asked for and what was executed, block time and its target, missed chunks and what a "+
			"transfer costs, beside the same of an earlier run.",
		variables, benchmarkRun(), benchmarkLoad(), benchmarkRuns())
}

func benchmarkRun() row {
	return row{"The run", []cog.Builder[dashboard.Panel]{
		latest("Executed", "Transfers executed per second in all shards, from finalised blocks.",
			units.Short, 6, query{executed, "executed"}),
		latest("Asked for", "Transfers per second that the generators of all nodes are told to sign: what a load profile says, or what "+
			"a controller asks for.",
			units.Short, 6, query{askedFor, "asked for"}),
		latest("Mean block time", "Mean difference of the timestamps of consecutive finalised blocks.",
			units.Seconds, 6, query{meanBlock, "block time"}),
		latest("CPU per transfer", "Processor time that all nodes use for each transfer that is executed.",
			units.Seconds, 6, query{cpuPerTransfer, "per transfer"}),
	}}
}

func benchmarkLoad() row {
	const blockTime = "shardnode_block_time_seconds"
	return row{"Load and answer", []cog.Builder[dashboard.Panel]{
		graph("Asked for, signed and executed",
			"Transfers per second: what the generators of all nodes are told to sign, what they sign, and what finalised blocks "+
				"commit to as executed. Where these part, the network or the generators are at their limit.",
			units.Short, half,
			query{askedFor, "asked for"},
			query{fmt.Sprintf("sum(%s)", rate("shardnode_load_signed_total", ofNetwork)), "signed"},
			query{executed, "executed"}),
		graph("Block time and its target",
			"Difference of the timestamps of consecutive finalised blocks, and the target that is chosen above. A controller asks "+
				"for less when blocks take longer than its target. Percentiles are interpolated between the histogram's bounds.",
			units.Seconds, half,
			query{meanBlock, "mean"},
			query{percentile("0.95", "", blockTime, ofNetwork), "p95"},
			query{"vector($target)", "target"}),
		graph("Asked for and not signed",
			"Transfers per second that were due: held back because the pools had no room, where the chain is the limit, or overdue, "+
				"where the generators are, or exhausted, where they had signed before, and too little.",
			units.Short, half,
			query{fmt.Sprintf("sum(%s)", rate("shardnode_load_held_back_total", ofNetwork)), "held back"},
			query{fmt.Sprintf("sum(%s)", rate("shardnode_load_overdue_total", ofNetwork)), "overdue"},
			query{fmt.Sprintf("sum(%s)", rate("shardnode_load_exhausted_total", ofNetwork)), "exhausted"}).
			AxisSoftMax(1),
		graph("Transfers of a block", "Transfers that a finalised block commits to as executed, of all shards.",
			units.Short, half,
			query{fmt.Sprintf("%s * %s", executed, meanBlock), "per block"}),
	}}
}

// benchmarkRuns has the run and an earlier one on one axis of time.
func benchmarkRuns() row {
	return row{"This run and an earlier one", []cog.Builder[dashboard.Panel]{
		twoRuns("Executed in both runs", "Transfers executed per second in all shards, from finalised blocks.", units.Short, executed),
		twoRuns("Block time in both runs", "Mean difference of the timestamps of consecutive finalised blocks.", units.Seconds, meanBlock),
		twoRuns("Missed chunks in both runs", "Part of the chunks that finalised blocks lack.", units.PercentUnit, missedOfAll),
		twoRuns("CPU per transfer in both runs", "Processor time that all nodes use for each transfer that is executed.",
			units.Seconds, cpuPerTransfer),
	}}
}

func twoRuns(title, description, unit, expression string) cog.Builder[dashboard.Panel] {
	return graph(title, description+" The earlier run is that of the same network, as long before as is chosen above, or nothing if "+
		"there was none.",
		unit, half, query{expression, "this run"}, query{before(expression), "$earlier earlier"})
}

// before is what an expression of rates was as long before as is chosen.
func before(expression string) string {
	return strings.ReplaceAll(expression, "[$__rate_interval]", "[$__rate_interval] offset $earlier")
}
