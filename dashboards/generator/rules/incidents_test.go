// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"math"
	"slices"
	"testing"
)

// incident is something that goes wrong after half an hour and is mended after an
// hour.
type incident struct {
	what  string
	given []series
	// quiet is the last moment at which nothing fires yet, fires one at which it
	// does, and cleared one at which it does not any more.
	quiet, fires, cleared string
	firing                []firing
}

// Labels of what fires.
var (
	small       = map[string]string{"namespace": "chains", "network": "small"}
	shard1      = map[string]string{"namespace": "chains", "network": "small", "shard": "1"}
	regionB     = map[string]string{"namespace": "chains", "network": "small", "region": "region-b"}
	nodeA1      = map[string]string{"namespace": "chains", "network": "small", "region": "region-a", "node": "a1"}
	disk        = map[string]string{"namespace": "chains", "network": "small", "persistentvolumeclaim": "data-small-s0-p0-0"}
	archiveDisk = map[string]string{"namespace": "chains", "network": "small", "persistentvolumeclaim": "data-small-a0-0"}
	nightly     = map[string]string{"namespace": "chains", "benchmark": "nightly"}
	everyNight  = map[string]string{"namespace": "chains", "schedule": "nightly"}
	killed      = map[string]string{"namespace": "chains", "network": "small", "fault": "kill-producer"}
)

// standsStill is what fires while no block is finalised.
var standsStill = firing{
	alert: "ShardyardNoBlockFinalised", labels: small,
	summary: "No block is finalised in network small",
	description: "No node of network small in namespace chains has finalised a block for ten of its block times, and " +
		"at least a minute: more than two thirds of the producers must take part.",
}

var incidents = []incident{
	{
		what:  "the chain stands still",
		given: chainSeries(stops),
		quiet: "32m", fires: "34m", cleared: "61m",
		firing: []firing{standsStill},
	},
	{
		what:  "the chain stands still for longer than it has a block time",
		given: chainSeries(halts),
		quiet: "32m", fires: "119m",
		firing: []firing{standsStill},
	},
	{
		what: "all nodes begin anew, and the chain stands still",
		given: with(chainSeries(stops), slices.Concat(
			every(anew, "shardnode_finalized_height", "", 4), condition("Producing", "False", "ChainStalled"))),
		quiet: "31m", fires: "36m", cleared: "61m",
		firing: []firing{standsStill},
	},
	{
		what:  "all nodes are gone",
		given: slices.Concat(chainSeries(silenced), condition("Producing", "Unknown", "NoAnswer")),
		quiet: "31m", fires: "33m", cleared: "61m",
		firing: []firing{standsStill},
	},
	{
		what:  "a chain of one block every forty seconds stands still",
		given: slow(0),
		quiet: "40m", fires: "43m", cleared: "62m",
		firing: []firing{standsStill},
	},
	{
		what: "a shard loses both producers",
		given: slices.Concat(
			everywhere("shardnode_shard_missed_chunks_total", `shard="1"`, 0, 4),
			[]series{
				counter("shardnode_chunks_produced_total", ofNode("b1", ""), 2, 0),
				counter("shardnode_chunks_produced_total", ofNode("b2", ""), 2, 0),
			}),
		quiet: "32m", fires: "35m", cleared: "63m",
		firing: []firing{{
			alert: "ShardyardShardWithoutChunks", labels: shard1,
			summary: "Blocks hold no chunks of shard 1 of network small",
			description: "100% of the blocks that were finalised in the last two minutes hold no chunk of shard 1 of network " +
				"small in namespace chains: none of its transactions is executed.",
		}},
	},
	{
		what: "a shard loses one of its producers",
		given: slices.Concat(
			everywhere("shardnode_shard_missed_chunks_total", `shard="1"`, 0, 2),
			[]series{counter("shardnode_chunks_produced_total", ofNode("b1", ""), 2, 0)}),
		quiet: "35m", fires: "42m", cleared: "66m",
		firing: []firing{{
			alert: "ShardyardChunksMissed", labels: shard1,
			summary: "Blocks lack chunks of shard 1 of network small",
			description: "50% of the blocks that were finalised in the last five minutes hold no chunk of shard 1 of network " +
				"small in namespace chains: its transactions wait for the next one.",
		}},
	},
	{
		what:  "committees do not endorse",
		given: everywhere("shardnode_shard_missed_chunks_total", `shard="1"`, 0, 1),
		quiet: "35m", fires: "42m", cleared: "66m",
		firing: []firing{
			{
				alert: "ShardyardChunksMissed", labels: shard1,
				summary: "Blocks lack chunks of shard 1 of network small",
				description: "25% of the blocks that were finalised in the last five minutes hold no chunk of shard 1 of network " +
					"small in namespace chains: its transactions wait for the next one.",
			},
			{
				alert: "ShardyardEndorsementsShort", labels: small,
				summary: "Chunks of network small are produced and left out of blocks",
				description: "100% of the chunks that finalised blocks of network small in namespace chains lack were produced: " +
					"their headers had no endorsements of more than two thirds of their committee's stake, or came too " +
					"late.",
			},
		},
	},
	{
		what: "a region is far away",
		given: []series{
			counter("shardnode_finality_lag_seconds_sum", ofNode("b1", ""), 0.4, 24),
			counter("shardnode_finality_lag_seconds_sum", ofNode("b2", ""), 0.4, 24),
		},
		quiet: "34m", fires: "43m", cleared: "66m",
		firing: []firing{{
			alert: "ShardyardFinalityLag", labels: regionB,
			summary: "Blocks of network small reach region-b late",
			description: "Nodes of network small in region region-b, namespace chains, process a block as finalised 6s after " +
				"its timestamp, more than five block times and two seconds.",
		}},
	},
	{
		what:  "a node executes at half the speed of the chain, and then twice",
		given: []series{behind()},
		quiet: "35m", fires: "45m", cleared: "85m",
		firing: []firing{{
			alert: "ShardyardExecutingBehind", labels: nodeA1,
			summary: "Executing chunks falls behind on node a1 of network small",
			description: "For five minutes, node a1 of network small in namespace chains has been at least 1260 blocks behind " +
				"the finalised ones with executing its shard. Above ten, it counts as not ready.",
		}},
	},
	{
		what: "a load is more than the chain takes",
		given: slices.Concat(
			everywhere("shardnode_load_signed_total", "", 100, 60),
			everywhere("shardnode_load_held_back_total", "", 0, 40)),
		quiet: "35m", fires: "40m", cleared: "66m",
		firing: []firing{{
			alert: "ShardyardLoadHeldBack", labels: small,
			summary: "The load of network small is more than it takes",
			description: "40% of the transfers that the generators of network small in namespace chains were due to sign in the " +
				"last five minutes were held back, because the pools had no room: the chain is saturated, and a controller that " +
				"asks for more gets no more.",
		}},
	},
	{
		what:  "a node leaks files",
		given: []series{gauge("shardnode_process_open_files", ofNode("a1", ""), 300, 910)},
		quiet: "34m", fires: "36m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardOpenFilesRunningOut", labels: nodeA1,
			summary: "Open files run out on node a1 of network small",
			description: "The process of node a1 of network small in namespace chains has 91% of the files open that it may " +
				"have. At the limit it can neither store nor connect, and ends.",
		}},
	},
	{
		what:  "a disk has little left",
		given: []series{gauge("kubelet_volume_stats_available_bytes", claim, 60e9, 8e9)},
		quiet: "35m", fires: "42m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardDiskRunningOut", labels: disk,
			summary: "The disk data-small-s0-p0-0 of network small runs out",
			description: "8% of the volume data-small-s0-p0-0 of network small in namespace chains is free: less than a " +
				"tenth, or it is full within four hours as it fills now. A validator whose disk is full ends.",
		}},
	},
	{
		what: "the disk of an archive has little left",
		given: []series{
			gauge("kubelet_volume_stats_available_bytes", archiveClaim, 60e9, 8e9),
			gauge("kubelet_volume_stats_capacity_bytes", archiveClaim, 100e9, 100e9),
		},
		quiet: "35m", fires: "42m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardDiskRunningOut", labels: archiveDisk,
			summary: "The disk data-small-a0-0 of network small runs out",
			description: "8% of the volume data-small-a0-0 of network small in namespace chains is free: less than a " +
				"tenth, or it is full within four hours as it fills now. A validator whose disk is full ends.",
		}},
	},
	{
		what:  "a disk fills",
		given: []series{filling()},
		quiet: "35m", fires: "55m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardDiskRunningOut", labels: disk,
			summary: "The disk data-small-s0-p0-0 of network small runs out",
			description: "23.17% of the volume data-small-s0-p0-0 of network small in namespace chains is free: less than a " +
				"tenth, or it is full within four hours as it fills now. A validator whose disk is full ends.",
		}},
	},
	{
		what:  "a node has another state than the chain",
		given: condition("NodesReady", "False", "StatesContradict"),
		quiet: "29m", fires: "31m", cleared: "76m",
		firing: []firing{{
			alert: "ShardyardStatesContradict", labels: small,
			summary: "A node of network small has another state than the chain",
			description: "A producer of network small in namespace chains came to another state of its shard than finalised " +
				"blocks commit to, and ended: two nodes contradict each other about the same chunks. The condition NodesReady " +
				"of the network names it.",
		}},
	},
	{
		what:  "a disk is full",
		given: slices.Concat(condition("NodesReady", "False", "DiskFull")),
		quiet: "30m", fires: "32m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardDiskFull", labels: small,
			summary: "A disk of network small is full",
			description: "A validator of network small in namespace chains cannot write its volume and does not run. The " +
				"condition NodesReady of the network names it.",
		}},
	},
	{
		what:  "money comes from nowhere",
		given: condition("Producing", "False", "SupplyNotConserved"),
		quiet: "29m", fires: "31m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardSupplyNotConserved", labels: small,
			summary: "The supply of network small is not conserved",
			description: "By its own finalised blocks, the sum of all value of network small in namespace chains is not what " +
				"genesis made: a fault of the node's software. Nothing that the chain says is to be trusted.",
		}},
	},
	{
		what:  "a member cluster does not answer",
		given: condition("ClustersAvailable", "False", "ClusterUnavailable"),
		quiet: "34m", fires: "36m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardMemberClusterLost", labels: small,
			summary: "A cluster of network small cannot be used",
			description: "For five minutes, the operator could not use a cluster that holds a region of network small in " +
				"namespace chains. Its validators run on, and nobody looks after them.",
		}},
	},
	{
		what:  "an archive gets no new state of a shard",
		given: condition("StatesArchived", "False", "ArchivesBehind"),
		quiet: "39m", fires: "41m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardArchivesBehind", labels: small,
			summary: "The archives of network small do not keep up",
			description: "For ten minutes, the archives of network small in namespace chains have had a state of a shard that " +
				"is too old, or soon will be, for the shard to come back from it should its producers lose their disks. The " +
				"condition StatesArchived of the network says which.",
		}},
	},
	{
		what:  "starting a node again does not help",
		given: condition("KeepingUp", "False", "HealingGaveUp"),
		quiet: "34m", fires: "36m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardNodeNotHealed", labels: small,
			summary: "A node of network small does not keep up, and starting it again does not help",
			description: "A node of network small in namespace chains is behind the chain and has come no closer although the " +
				"operator started it again three times. It is left alone. The condition KeepingUp of the network names it.",
		}},
	},
	{
		what:  "a network is not ready",
		given: condition("Ready", "Unknown", "NoAnswer"),
		quiet: "44m", fires: "46m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardNetworkNotReady", labels: small,
			summary: "Network small is not ready",
			description: "The condition Ready of network small in namespace chains has not been True for a quarter of an " +
				"hour. Its message says what is missing.",
		}},
	},
	{
		what: "a network is not ready while its update waits for a height",
		given: slices.Concat(condition("Ready", "False", "Degraded"), condition("Updated", "False", "AwaitingHeight"),
			condition("NodesReady", "False", "Crashing"), condition("Producing", "True", "AllShardsProducing")),
		quiet: "44m", fires: "46m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardNetworkNotReady", labels: small,
			summary: "Network small is not ready",
			description: "The condition Ready of network small in namespace chains has not been True for a quarter of an " +
				"hour. Its message says what is missing.",
		}},
	},
	{
		what: "the operator is gone",
		given: []series{
			gone("controller_runtime_max_concurrent_reconciles", `controller="shardnetwork",namespace="shardyard-system"`, 1),
		},
		quiet: "39m", fires: "41m", cleared: "61m",
		firing: []firing{{
			alert:   "ShardyardOperatorDown",
			summary: "No operator looks after the networks",
			description: "There are 1 networks, and for ten minutes no operator that leads has been scraped: it does not run, " +
				"or Prometheus does not reach it. What fails meanwhile stays as it is.",
		}},
	},
	{
		what:  "a change is not taken up",
		given: []series{gauge("shardyard_shardnetwork_generation", ofNetwork(""), 3, 4)},
		quiet: "39m", fires: "41m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardOperatorNotReconciling", labels: small,
			summary: "The operator does not take up changes of network small",
			description: "The spec of network small in namespace chains has had generation 4 for ten minutes, and its status " +
				"is still about an earlier one.",
		}},
	},
	{
		what:  "a new network is not taken up",
		given: []series{gone("shardyard_shardnetwork_observed_generation", ofNetwork(""), 3)},
		quiet: "39m", fires: "41m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardOperatorNotReconciling", labels: small,
			summary: "The operator does not take up changes of network small",
			description: "The spec of network small in namespace chains has had generation 3 for ten minutes, and its status " +
				"is still about an earlier one.",
		}},
	},
	{
		what: "somebody takes a right from the operator",
		given: []series{values("shardyard_refused_watches", `namespace="shardyard-system",group="shardyard.dev",resource="faults"`,
			func(i int) string {
				switch {
				case i == ends:
					return "stale"
				case i < begins || i > ends:
					return "_"
				default:
					return "1"
				}
			})},
		quiet: "34m", fires: "36m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardOperatorRefused", labels: map[string]string{"group": "shardyard.dev", "resource": "faults"},
			summary: "The operator may not watch faults",
			description: "For five minutes, the operator has been refused to list or to watch faults of shardyard.dev: it knows " +
				"nothing of them, or nothing new, and what depends on them stays as it is.",
		}},
	},
	{
		what: "a controller hangs",
		given: []series{gauge("workqueue_longest_running_processor_seconds",
			`controller="benchmark",namespace="shardyard-system"`, 0.1, 900)},
		quiet: "34m", fires: "36m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardOperatorStuck", labels: map[string]string{"controller": "benchmark"},
			summary: "The controller benchmark of the operator is stuck",
			description: "The controller benchmark has been at one object for 15m 0s: nothing else may be done for that " +
				"object, and few others in its stead.",
		}},
	},
	{
		what: "a controller fails every second time",
		given: []series{counter("controller_runtime_reconcile_errors_total",
			`controller="shardnetwork",namespace="shardyard-system"`, 0.01, 0.25)},
		quiet: "40m", fires: "59m", cleared: "75m",
		firing: []firing{{
			alert: "ShardyardOperatorFailing", labels: map[string]string{"controller": "shardnetwork"},
			summary:     "The controller shardnetwork of the operator fails again and again",
			description: "50% of what the controller shardnetwork did in the last ten minutes ended in an error.",
		}},
	},
	{
		what: "a benchmark fails",
		given: []series{
			gauge("shardyard_benchmark_phase", ofBenchmark("Succeeded"), 1, 0), gauge("shardyard_benchmark_phase", ofBenchmark("Failed"), 0, 1),
		},
		quiet: "29m", fires: "31m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardBenchmarkFailed", labels: nightly,
			summary: "Benchmark nightly failed",
			description: "A run of benchmark nightly in namespace chains broke, or its result misses a criterion of the spec. " +
				"The condition Ready says which. The alert ends a day after the benchmark.",
		}},
	},
	{
		what: "a benchmark regresses",
		given: []series{
			gauge("shardyard_benchmark_phase", ofBenchmark("Succeeded"), 1, 0), gauge("shardyard_benchmark_phase", ofBenchmark("Regressed"), 0, 1),
		},
		quiet: "29m", fires: "31m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardBenchmarkRegressed", labels: nightly,
			summary: "Benchmark nightly regressed",
			description: "The result of benchmark nightly in namespace chains is worse than what it is compared with. The " +
				"condition Ready says by how much. The alert ends a day after the benchmark.",
		}},
	},
	{
		what:  "a schedule cannot be understood",
		given: scheduled("Ready", "False"),
		quiet: "44m", fires: "46m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardBenchmarkScheduleNotReady", labels: everyNight,
			summary: "Schedule nightly starts no benchmarks",
			description: "The condition Ready of schedule nightly in namespace chains has not been True for a quarter of an hour: its " +
				"next benchmark is not started when it is due. Its message says why.",
		}},
	},
	{
		what:  "a benchmark is not started when it is due",
		given: scheduled("OnTime", "False"),
		quiet: "29m", fires: "31m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardBenchmarkScheduleMissed", labels: everyNight,
			summary: "Schedule nightly has missed a benchmark",
			description: "No benchmark was started at the latest time of schedule nightly in namespace chains. The condition OnTime " +
				"says why. The alert ends when one is started on time.",
		}},
	},
	{
		what:  "a benchmark of a schedule regresses and is deleted",
		given: lastResult("Succeeded", "Regressed"),
		quiet: "29m", fires: "31m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardBenchmarkScheduleFailing", labels: everyNight,
			summary: "The latest benchmark of schedule nightly did not succeed",
			description: "The latest benchmark of schedule nightly in namespace chains that ended failed or regressed. The alert ends " +
				"when one succeeds, however long ago the other was, and whether or not it is kept.",
		}},
	},
	{
		what:  "a fault goes on and on",
		given: faulted("Measured", "Running"),
		quiet: "51m", fires: "52m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardFaultOverdue", labels: killed,
			summary: "Fault kill-producer of network small goes on for longer than it should",
			description: "The fault kill-producer of network small in namespace chains has gone on for 23m 0s, twenty minutes longer " +
				"than its baseline, duration and recovery together. Nobody says whether the network still has it.",
		}},
	},
	{
		what:  "a fault is over and a validator does not come back",
		given: recovered("True", "False"),
		quiet: "29m", fires: "31m", cleared: "61m",
		firing: []firing{{
			alert: "ShardyardFaultNotRecovered", labels: killed,
			summary: "Not everything is as before the fault kill-producer of network small",
			description: "The fault kill-producer of network small in namespace chains is over, and in the time that its spec allows a " +
				"validator did not come back or the chain stayed worse than before. The condition Recovered says which. The alert " +
				"ends a day after the fault.",
		}},
	},
}

// slow is a chain whose blocks are forty seconds apart, and in bad times as many of
// them as before.
func slow(share float64) []series {
	const rate = 0.025
	return slices.Concat(
		everywhere("shardnode_block_time_seconds_count", "", rate, share*rate),
		everywhere("shardnode_block_time_seconds_sum", "", 1, share),
		everywhere("shardnode_finality_lag_seconds_count", "", rate, share*rate),
		everywhere("shardnode_finality_lag_seconds_sum", "", 30*rate, share*30*rate),
		heights("shardnode_finalized_height", rate, share*rate),
		heights("shardnode_executed_height", rate, share*rate),
		everywhere("shardnode_shard_missed_chunks_total", `shard="0"`, 0, 0),
		everywhere("shardnode_chunks_produced_total", "", rate/2, share*rate/2))
}

// chainSeries are the series of all nodes that say how a chain goes on.
func chainSeries(of func(name, labels string, good float64) series) []series {
	return slices.Concat(
		every(of, "shardnode_block_time_seconds_count", "", 4),
		every(of, "shardnode_block_time_seconds_sum", "", 1),
		every(of, "shardnode_finality_lag_seconds_count", "", 4),
		every(of, "shardnode_finality_lag_seconds_sum", "", 0.4),
		every(of, "shardnode_finalized_height", "", 4),
		every(of, "shardnode_executed_height", "", 4),
		every(of, "shardnode_shard_missed_chunks_total", `shard="0"`, 0.04),
		every(of, "shardnode_shard_missed_chunks_total", `shard="1"`, 0),
		every(of, "shardnode_chunks_produced_total", "", 2))
}

// heights grow by whole blocks.
func heights(name string, good, bad float64) []series {
	var all []series
	for _, node := range validators {
		height := 0.0
		all = append(all, values(name, ofNode(node, ""), func(i int) string {
			if i >= begins && i < ends {
				height += bad * interval
			} else {
				height += good * interval
			}
			return number(1000 + math.Floor(height))
		}))
	}
	return all
}

// behind is a validator that executes two blocks a second of four, and makes up
// for it at eight.
func behind() series {
	height := 1000.0
	return values("shardnode_executed_height", ofNode("a1", ""), func(i int) string {
		tip := 1000 + float64(4*interval*(i+1))
		switch {
		case i >= begins && i < ends:
			height += 2 * interval
		default:
			height = min(tip, height+8*interval)
		}
		return number(height)
	})
}

// filling is a disk that has 39 GB left of 100, and 20 half an hour later; then
// somebody makes room.
func filling() series {
	return values("kubelet_volume_stats_available_bytes", claim, func(i int) string {
		if i >= begins && i < ends {
			return number(39e9 - 19e9*float64(i-begins)/float64(ends-begins))
		}
		return number(60e9)
	})
}

func TestIncidents(t *testing.T) {
	t.Parallel()
	for _, incident := range incidents {
		t.Run(incident.what, func(t *testing.T) {
			t.Parallel()
			moments := []moment{{at: incident.quiet}, {incident.fires, incident.firing}}
			if incident.cleared != "" {
				moments = append(moments, moment{at: incident.cleared})
			}
			evaluate(t, with(healthy(), incident.given), moments...)
		})
	}
}

// What is meant to be so is no incident.
func TestNothingFiresOnPurpose(t *testing.T) {
	t.Parallel()
	for what, given := range map[string][]series{
		"blocks are forty seconds apart": slow(1),
		"a network is updated": slices.Concat(
			condition("Ready", "False", "Degraded"), condition("Updated", "False", "Updating")),
		"an update waits for its height": slices.Concat(
			condition("Ready", "True", "Running"), condition("Updated", "False", "AwaitingHeight")),
		"a network is stopped at the end of its lifetime": slices.Concat(
			condition("Ready", "False", "Stopped"), condition("WithinLifetime", "False", "Stopped")),
		"a chain has not begun": slices.Concat(
			every(constant, "shardnode_finalized_height", "", 0), every(constant, "shardnode_executed_height", "", 0)),
		"a benchmark failed two days ago": {
			gauge("shardyard_benchmark_phase", ofBenchmark("Failed"), 1, 1),
			gauge("shardyard_benchmark_end_time", `namespace="chains",benchmark="nightly"`, -2*24*3600, -2*24*3600),
		},
		"somebody suspends a schedule": slices.Concat(scheduled("Ready", "False"), suspended(1)),
		"a fault is as long as its spec says": slices.Concat(
			faulted("Measured", "Running"), []series{constant("shardyard_fault_duration_seconds", ofFault(""), 1800)}),
		"a fault waits for its network": faulted("Pending", "Pending"),
		// It is as new as it looks, whatever an earlier one of its name did.
		"a fault is made again": slices.Concat(
			faulted("Running", "Running"), []series{gauge("shardyard_fault_created", ofFault(""), 7200, 7200)}),
		"a fault from which a network did not recover was two days ago": slices.Concat(
			recovered("False", "False"), []series{constant("shardyard_fault_end_time", ofFault(""), -2*24*3600)}),
		// Its series end, and what others say of the chain is the same.
		"a validator is replaced": {
			gone("shardnode_finalized_height", ofNode("a1", ""), 1e6), gone("shardnode_executed_height", ofNode("a1", ""), 1e6),
			gone("shardnode_block_time_seconds_count", ofNode("a1", ""), 1e6), gone("shardnode_block_time_seconds_sum", ofNode("a1", ""), 1e6),
		},
		"nobody has a network": nil,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			history := with(healthy(), given)
			if given == nil {
				history = nil
			}
			evaluate(t, history, moment{at: "20m"}, moment{at: "35m"}, moment{at: "45m"}, moment{at: "59m"}, moment{at: "90m"})
		})
	}
}

func constant(name, labels string, value float64) series { return gauge(name, labels, value, value) }
