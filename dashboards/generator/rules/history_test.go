// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"strconv"
	"strings"
)

// A history is two hours of samples, one every 30 seconds. What is wrong begins
// after half an hour and ends after an hour.
const (
	interval = 30
	begins   = 30 * 60 / interval
	ends     = 60 * 60 / interval
	samples  = 120 * 60 / interval
)

// series is a series and its samples, in promtool's notation.
type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

// gauge is a series with one value in good times and another in bad ones.
func gauge(name, labels string, good, bad float64) series {
	return values(name, labels, func(i int) string {
		if bad != good && i >= begins && i < ends {
			return number(bad)
		}
		return number(good)
	})
}

// counter grows by as much a second in good times and in bad ones.
func counter(name, labels string, good, bad float64) series {
	total := 1000.0
	return values(name, labels, func(i int) string {
		if i >= begins && i < ends {
			total += bad * interval
		} else {
			total += good * interval
		}
		return number(total)
	})
}

// gone is a series that nobody exports in bad times.
func gone(name, labels string, good float64) series {
	return values(name, labels, absent(func(int) string { return number(good) }))
}

// absent are samples without those of bad times.
func absent(at func(int) string) func(int) string {
	return func(i int) string {
		sample := at(i)
		switch {
		case i == begins:
			return "stale"
		case i > begins && i < ends:
			return "_"
		default:
			return sample
		}
	}
}

// stops is a counter that grows by as much a second, but in bad times.
func stops(name, labels string, good float64) series { return counter(name, labels, good, 0) }

// halts is a counter that grows by as much a second until bad times begin, and
// never again.
func halts(name, labels string, good float64) series {
	total := 1000.0
	return values(name, labels, func(i int) string {
		if i < begins {
			total += good * interval
		}
		return number(total)
	})
}

// anew is a counter that grows by as much a second until bad times begin, and is 0 while they
// last: its process began anew, and counts nothing.
func anew(name, labels string, good float64) series {
	total := 1000.0
	return values(name, labels, func(i int) string {
		if i >= begins && i < ends {
			return "0"
		}
		total += good * interval
		return number(total)
	})
}

// silenced is a counter that grows by as much a second, and that nobody exports in bad times.
func silenced(name, labels string, good float64) series {
	total := 1000.0
	return values(name, labels, absent(func(int) string {
		total += good * interval
		return number(total)
	}))
}

// every has a series of each validator.
func every(of func(name, labels string, good float64) series, name, others string, good float64) []series {
	var all []series
	for _, node := range validators {
		all = append(all, of(name, ofNode(node, others), good))
	}
	return all
}

func values(name, labels string, at func(int) string) series {
	all := make([]string, 0, samples)
	for i := range samples {
		all = append(all, at(i))
	}
	return series{name + "{" + labels + "}", strings.Join(all, " ")}
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// validators are four, the first two of shard 0.
var validators = []string{"a1", "a2", "b1", "b2"}

// ofNode are the labels of a validator's series.
func ofNode(node, others string) string {
	if others != "" {
		others = "," + others
	}
	return fmt.Sprintf(`namespace="chains",network="small",region="region-%s",node=%q,pod="small-%s-0"%s`, node[:1], node, node, others)
}

// ofNetwork are the labels of what the operator says of a network.
func ofNetwork(others string) string {
	if others != "" {
		others += ","
	}
	return others + `namespace="chains",network="small"`
}

// everywhere is a counter that all validators have.
func everywhere(name, others string, good, bad float64) []series {
	var all []series
	for _, node := range validators {
		all = append(all, counter(name, ofNode(node, others), good, bad))
	}
	return all
}

// condition is a condition of the network, True in good times, and in bad ones
// something else for a reason.
func condition(kind, status, reason string) []series {
	const name = "shardyard_shardnetwork_condition"
	all := []series{}
	for _, state := range []string{"True", "False", "Unknown"} {
		labels := func(reason string) string {
			return ofNetwork(fmt.Sprintf(`condition=%q,reason=%q,status=%q`, kind, reason, state))
		}
		isTrue, isBad := 0.0, 0.0
		if state == "True" {
			isTrue = 1
		}
		if state == status {
			isBad = 1
		}
		if status == "" {
			all = append(all, gauge(name, labels("AllWell"), isTrue, isTrue))
			continue
		}
		all = append(all, gone(name, labels("AllWell"), isTrue), values(name, labels(reason), func(i int) string {
			switch {
			case i < begins || i > ends:
				return "_"
			case i == ends:
				return "stale"
			default:
				return number(isBad)
			}
		}))
	}
	return all
}

// claim is the volume claim of a validator.
const claim = `namespace="chains",persistentvolumeclaim="data-small-s0-p0-0",node="machine-1"`

// archiveClaim is the volume claim of an archive.
const archiveClaim = `namespace="chains",persistentvolumeclaim="data-small-a0-0",node="machine-2"`

// healthy is a network of four validators and two shards, with four blocks a
// second, an operator that looks after it, a benchmark that succeeded, its schedule,
// a fault that was measured, and what is none of ours.
func healthy() []series {
	var all []series
	add := func(more ...series) { all = append(all, more...) }
	add(everywhere("shardnode_block_time_seconds_count", "", 4, 4)...)
	add(everywhere("shardnode_block_time_seconds_sum", "", 1, 1)...)
	add(everywhere("shardnode_finality_lag_seconds_count", "", 4, 4)...)
	add(everywhere("shardnode_finality_lag_seconds_sum", "", 0.4, 0.4)...)
	add(everywhere("shardnode_finalized_height", "", 4, 4)...)
	add(everywhere("shardnode_executed_height", "", 4, 4)...)
	add(everywhere("shardnode_shard_missed_chunks_total", `shard="0"`, 0.04, 0.04)...)
	add(everywhere("shardnode_shard_missed_chunks_total", `shard="1"`, 0, 0)...)
	// Each in turn with the other producer of its shard.
	add(everywhere("shardnode_chunks_produced_total", "", 2, 2)...)
	add(everywhere("shardnode_load_signed_total", "", 100, 100)...)
	// Now and then a pool is full for a moment.
	add(everywhere("shardnode_load_held_back_total", "", 5, 5)...)
	for _, node := range validators {
		add(gauge("shardnode_load_target_tps", ofNode(node, ""), 105, 105),
			gauge("shardnode_process_open_files", ofNode(node, ""), 300, 300),
			gauge("shardnode_process_open_files_limit", ofNode(node, ""), 1000, 1000))
	}
	for _, kind := range []string{"Ready", "Producing", "NodesReady", "ClustersAvailable", "WithinLifetime", "Updated"} {
		add(condition(kind, "", "")...)
	}
	add(gauge("shardyard_shardnetwork_highest_finalized_height", ofNetwork(""), 1000, 1000),
		gauge("shardyard_shardnetwork_created", ofNetwork(""), 1, 1),
		gauge("shardyard_shardnetwork_generation", ofNetwork(""), 3, 3),
		gauge("shardyard_shardnetwork_observed_generation", ofNetwork(""), 3, 3))
	for _, controller := range []string{"shardnetwork", "benchmark", "fault"} {
		labels := fmt.Sprintf(`controller=%q,namespace="shardyard-system"`, controller)
		add(gauge("controller_runtime_max_concurrent_reconciles", labels, 1, 1),
			counter("controller_runtime_reconcile_total", labels+`,result="success"`, 0.5, 0.5),
			counter("controller_runtime_reconcile_errors_total", labels, 0.01, 0.01),
			gauge("workqueue_longest_running_processor_seconds", labels, 0.1, 0.1))
	}
	for _, phase := range []string{"Succeeded", "Failed", "Regressed"} {
		value := 0.0
		if phase == "Succeeded" {
			value = 1
		}
		add(gauge("shardyard_benchmark_phase", ofBenchmark(phase), value, value))
	}
	add(scheduled("Ready", "True")...)
	add(scheduled("OnTime", "True")...)
	add(lastResult("Succeeded", "Succeeded")...)
	add(suspended(0)...)
	add(faulted("Measured", "Measured")...)
	add(recovered("True", "True")...)
	add(gauge("shardyard_fault_created", ofFault(""), 0, 0), gauge("shardyard_fault_end_time", ofFault(""), 0, 0),
		gauge("shardyard_fault_baseline_seconds", ofFault(""), 10, 10), gauge("shardyard_fault_duration_seconds", ofFault(""), 30, 30),
		gauge("shardyard_fault_recovery_limit_seconds", ofFault(""), 120, 120))
	add(gauge("shardyard_benchmark_end_time", `namespace="chains",benchmark="nightly"`, 0, 0),
		gauge("kubelet_volume_stats_available_bytes", claim, 80e9, 80e9),
		gauge("kubelet_volume_stats_capacity_bytes", claim, 100e9, 100e9),
		// A disk and a controller of somebody else.
		gauge("kubelet_volume_stats_available_bytes", `namespace="chains",persistentvolumeclaim="data-postgres-0"`, 1e9, 1e9),
		gauge("kubelet_volume_stats_capacity_bytes", `namespace="chains",persistentvolumeclaim="data-postgres-0"`, 100e9, 100e9),
		gauge("workqueue_longest_running_processor_seconds", `controller="certificates"`, 5000, 5000))
	return all
}

func ofBenchmark(phase string) string {
	return fmt.Sprintf(`namespace="chains",benchmark="nightly",phase=%q`, phase)
}

// ofSchedule are the labels of what is said of a schedule.
func ofSchedule(others string) string {
	return `namespace="chains",schedule="nightly"` + others
}

// ofFault are the labels of what is said of a fault.
func ofFault(others string) string {
	return `namespace="chains",network="small",fault="kill-producer"` + others
}

// states is a set of states, of which one is 1 in good times and one in bad ones.
func states(name, label, good, bad string, all []string, labels func(others string) string) []series {
	var set []series
	for _, state := range all {
		value := func(present string) float64 {
			if state == present {
				return 1
			}
			return 0
		}
		set = append(set, gauge(name, labels(fmt.Sprintf(",%s=%q", label, state)), value(good), value(bad)))
	}
	return set
}

// scheduled is a condition of a schedule, True in good times.
func scheduled(condition, bad string) []series {
	return states("shardyard_benchmark_schedule_condition", "status", "True", bad, []string{"True", "False", "Unknown"},
		func(others string) string {
			return ofSchedule(fmt.Sprintf(`,condition=%q,reason="Words"`, condition) + others)
		})
}

// suspended is whether a schedule is.
func suspended(value float64) []series {
	return []series{
		gauge("shardyard_benchmark_schedule_state", ofSchedule(`,state="Suspended"`), value, value),
		gauge("shardyard_benchmark_schedule_state", ofSchedule(`,state="Enabled"`), 1-value, 1-value),
	}
}

// lastResult is what the latest benchmark of a schedule came to.
func lastResult(good, bad string) []series {
	return states("shardyard_benchmark_schedule_last_result", "phase", good, bad, []string{"Succeeded", "Failed", "Regressed"}, ofSchedule)
}

// faulted is how far a fault is.
func faulted(good, bad string) []series {
	return states("shardyard_fault_phase", "phase", good, bad,
		[]string{"Pending", "Running", "Stopping", "Measured", "NotMeasured"}, ofFault)
}

// recovered is whether everything is as before a fault.
func recovered(good, bad string) []series {
	return states("shardyard_fault_condition", "status", good, bad, []string{"True", "False", "Unknown"},
		func(others string) string { return ofFault(`,condition="Recovered",reason="Words"` + others) })
}

// with replaces series of the same name and labels, and adds the others.
func with(given, others []series) []series {
	place := map[string]int{}
	all := append([]series{}, given...)
	for i, one := range all {
		place[one.Series] = i
	}
	for _, one := range others {
		if i, there := place[one.Series]; there {
			all[i] = one
		} else {
			all = append(all, one)
		}
	}
	return all
}
