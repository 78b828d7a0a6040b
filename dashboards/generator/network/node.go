// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// NodeDashboard builds the dashboard of one node.
func NodeDashboard() (dashboard.Dashboard, error) {
	variables := append(chosenNetwork(), labelValues("node", "Node", metric("shardnode_height", ofNetwork)), scrapeInterval(nodesScrape))
	return build("Shardyard node", "shardyard-node",
		"One node of a network: how far it is, what its processors and its disk do, what it produces, checks and serves.",
		variables, nodeNow(), nodeTime(), nodeChunks(), nodePool(), nodeNeighbours())
}

func nodeNow() row {
	const finalised = "shardnode_finalized_height"
	tip := fmt.Sprintf("scalar(max(%s))", metric(finalised, ofNetwork))
	return row{"Now", []cog.Builder[dashboard.Panel]{
		latest("Finalised height", "The last block that the node has processed as finalised.",
			units.Number, 5, query{nodes(metric(finalised, ofNode)), "{{node}}"}),
		latest("Behind the network",
			"Blocks between the last one that any node of the network has finalised and this one's. Nodes are not scraped at the "+
				"same moment: the blocks of one interval mean nothing.",
			units.Number, 5, query{fmt.Sprintf("%s - %s", tip, nodes(metric(finalised, ofNode))), "{{node}}"}),
		latest("Executing behind",
			"Blocks between the node's last finalised block and the last chunk of its shard that it executed since it started. "+
				"A node that is more than ten behind is not ready.",
			units.Number, 5, query{executingBehind(ofNode), "{{node}}"}),
		latest("Copy of the shard", "1 when the node has all that the shard needs to go on if it lost its other producers, else 0.",
			units.Number, 5, query{nodes(metric("shardnode_copy_complete", ofNode)), "{{node}}"}),
		latest("Peers", "Connected peers.", units.Number, 4, query{nodes(metric("shardnode_peers", ofNode)), "{{node}}"}),
	}}
}

// executingBehind is how many blocks nodes are behind with executing, of those that have
// executed something since they started: others have no shard, or nothing to execute.
func executingBehind(matchers string) string {
	return nodes(fmt.Sprintf("%s - (%s > 0)", metric("shardnode_finalized_height", matchers), metric("shardnode_executed_height", matchers)))
}

func nodeTime() row {
	return row{"Time, memory and files", []cog.Builder[dashboard.Panel]{
		graph("Processors", "Processors that the node's process keeps busy.",
			units.Short, third,
			query{fmt.Sprintf("sum by (node) (%s)", rate("shardnode_process_cpu_seconds_total", ofNode)), "{{node}}"}),
		graph("Time by phase",
			"Part of the time that the node spends in each phase: executing chunks of its shard and making that durable, making "+
				"state witnesses, and executing from those of others. Phases run side by side.",
			units.PercentUnit, third,
			query{spent("shardnode_execution_seconds"), "execute"},
			query{spent("shardnode_witness_make_seconds"), "make witness"},
			query{spent("shardnode_witness_validation_seconds"), "execute from witness"}),
		graph("Finality lag", "Time from a block's timestamp to its processing as finalised by the node.",
			units.Seconds, third,
			query{mean("shardnode_finality_lag_seconds", ofNode), "mean"},
			query{percentile("0.99", "", "shardnode_finality_lag_seconds", ofNode), "p99"}),
		graph("Blocks finalised", "Blocks per second that the node processes as finalised, and that most nodes do.",
			units.Short, third,
			query{nodes(rate("shardnode_finality_lag_seconds_count", ofNode)), "{{node}}"},
			query{fmt.Sprintf("quantile(0.5, %s)", rate("shardnode_finality_lag_seconds_count", ofNetwork)), "most nodes"}),
		graph("Memory", "Resident memory of the node's process, and what of it are parts of other shards' bodies and the pool.",
			units.BytesIEC, third,
			query{nodes(metric("shardnode_process_resident_memory_bytes", ofNode)), "process"},
			query{nodes(metric("shardnode_chunk_parts_held_bytes", ofNode)), "parts"},
			query{nodes(metric("shardnode_pool_bytes", ofNode)), "pool"}),
		graph("Allocated", "Bytes per second that the node's process allocates, however soon it frees them.",
			units.BytesPerSecondIEC, third,
			query{fmt.Sprintf("sum by (node) (%s)", rate("shardnode_process_allocated_bytes_total", ofNode)), "{{node}}"}),
		graph("Disk", "Bytes per second that the node has disks read, what the page cache answers apart, and write.",
			units.BytesPerSecondIEC, half,
			query{fmt.Sprintf("sum by (node) (%s)", rate("shardnode_process_disk_read_bytes_total", ofNode)), "read"},
			query{fmt.Sprintf("sum by (node) (%s)", rate("shardnode_process_disk_written_bytes_total", ofNode)), "written"}),
		graph("Open files", "Files that the process has open, connections among them, and those that its stores have open.",
			units.Number, half,
			query{nodes(metric("shardnode_process_open_files", ofNode)), "process"},
			query{nodes(metric("shardnode_stored_files_open", ofNode)), "stores"}),
	}}
}

// spent is the part of the time that a histogram of durations comes to.
func spent(name string) string {
	return fmt.Sprintf("sum(%s)", rate(name+"_sum", ofNode))
}

func nodeChunks() row {
	return row{"Chunks", []cog.Builder[dashboard.Panel]{
		graph("Chunk execution", "Time to execute one chunk of the own shard and make that durable.",
			units.Seconds, third,
			query{percentile("0.5", "", "shardnode_execution_seconds", ofNode), "p50"},
			query{percentile("0.99", "", "shardnode_execution_seconds", ofNode), "p99"}),
		graph("Witnesses, 99th percentile",
			"Making the state witness of an execution; until a witness of others can be checked, from its first part on; "+
				"executing from it.",
			units.Seconds, third,
			query{percentile("0.99", "", "shardnode_witness_make_seconds", ofNode), "make"},
			query{percentile("0.99", "", "shardnode_witness_receive_seconds", ofNode), "receive"},
			query{percentile("0.99", "", "shardnode_witness_validation_seconds", ofNode), "execute"}),
		graph("Size of witnesses", "State witnesses that the node made, compressed.",
			units.BytesIEC, third,
			query{mean("shardnode_witness_bytes", ofNode), "mean"},
			query{percentile("0.99", "", "shardnode_witness_bytes", ofNode), "p99"}),
		graph("Produced", "Chunks that the node produced, per second.",
			units.Short, third,
			query{fmt.Sprintf("sum by (node) (%s)", rate("shardnode_chunks_produced_total", ofNode)), "{{node}}"}),
		graph("Transfers produced", "Transfers per second in chunks that the node produced, as finalised blocks commit to them.",
			units.Short, third,
			query{fmt.Sprintf("sum by (node) (%s)", rate("shardnode_produced_transfers_total", ofNode)), "{{node}}"}),
		graph("Endorsements", "Chunk headers per second that the node checked as a member of their committee, by what it came to.",
			units.Short, third,
			query{fmt.Sprintf("sum by (result) (%s)", rate("shardnode_endorsements_total", ofNode)), "{{result}}"}),
	}}
}

func nodePool() row {
	signed := fmt.Sprintf("sum(%s)", rate("shardnode_load_signed_total", ofNode))
	return row{"Pool and load", []cog.Builder[dashboard.Panel]{
		graph("Pool", "Transactions in the pool, and those of them whose receiver's shard is congested.",
			units.Short, third,
			query{nodes(metric("shardnode_pool_transactions", ofNode)), "in the pool"},
			query{nodes(metric("shardnode_pool_waiting", ofNode)), "waiting"}),
		graph("Refused by the pool", "Transactions per second that the pool refused, by the reason.",
			units.Short, third,
			query{fmt.Sprintf("sum by (reason) (%s)", rate("shardnode_pool_rejected_total", ofNode)), "{{reason}}"}).
			AxisSoftMax(1),
		graph("Offered", "Transfers per second that the node's generator aims at, and that it signs.",
			units.Short, third,
			query{fmt.Sprintf("sum(%s)", metric("shardnode_load_target_tps", ofNode)), "target"},
			query{signed, "signed"}),
	}}
}

func nodeNeighbours() row {
	requests := fmt.Sprintf("sum(%s)", rate("shardnode_http_requests_total", ofNode))
	return row{"Peers and clients", []cog.Builder[dashboard.Panel]{
		graph("State served and fetched", "Bytes per second of the own shard's state that went to other producers and came from them.",
			units.BytesPerSecondIEC, third,
			query{fmt.Sprintf("sum(%s)", rate("shardnode_state_served_bytes_total", ofNode)), "served"},
			query{fmt.Sprintf("sum(%s)", rate("shardnode_state_fetched_bytes_total", ofNode)), "fetched"}),
		graph("Requests refused and unanswered",
			"Requests per second of peers that were not answered, because the peer had been answered enough or has no use for the answer, "+
				"and of this node that a peer left without an answer.",
			units.Short, third,
			query{fmt.Sprintf("sum(%s) or 0 * %s", rate("shardnode_requests_refused_total", ofNode), requests), "refused"},
			query{fmt.Sprintf("sum(%s) or 0 * %s", rate("shardnode_requests_unanswered_total", ofNode), requests), "unanswered"}).
			AxisSoftMax(1),
		graph("HTTP API", "Requests per second that were taken up, and open connections.",
			units.Short, third,
			query{requests, "requests per second"},
			query{fmt.Sprintf("sum(%s)", metric("shardnode_http_connections", ofNode)), "connections"}),
	}}
}
