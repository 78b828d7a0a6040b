// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

const (
	// inNamespace chooses what kube-state-metrics says of networks.
	inNamespace = `namespace=~"$namespace"`
	// ofControllers chooses the operator's own controllers: others have the same
	// metrics.
	ofControllers = `controller=~"shardnetwork|benchmark|benchmarkschedule|fault|nodetuning"`
	// operatorScrape is how often the chart has the operator scraped.
	operatorScrape = "30s"
)

// OperatorDashboard builds the dashboard of the operator and of all its networks.
func OperatorDashboard() (dashboard.Dashboard, error) {
	variables := []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
		labelValues("namespace", "Namespace", "shardyard_shardnetwork_created").IncludeAll(true).AllValue(everything).Current(all("$__all")),
		scrapeInterval(operatorScrape),
	}
	return build("Shardyard operator", "shardyard-operator",
		"The operator: the networks, benchmarks, schedules and faults that it looks after, by what kube-state-metrics says, and its own work.",
		variables, allNetworks(), trials(), reconciles())
}

// ofNetworks has one element for each network.
func ofNetworks(expression string) string {
	return fmt.Sprintf("max by (namespace, network) (%s)", expression)
}

// counted is how many elements an expression has, 0 for none.
func counted(expression string) string {
	return fmt.Sprintf("count(%s) or vector(0)", expression)
}

func allNetworks() row {
	condition := func(matchers string) string {
		return metric("shardyard_shardnetwork_condition", inNamespace+", "+matchers) + " == 1"
	}
	return row{"Networks", []cog.Builder[dashboard.Panel]{
		latest("Networks", "Networks whose condition Ready is True, and the others.",
			units.Number, third,
			query{counted(ofNetworks(condition(`condition="Ready", status="True"`))), "ready"},
			query{counted(ofNetworks(condition(`condition="Ready", status!="True"`))), "not ready"}),
		latest("Nodes", "Nodes of all networks that take part in their chains, and those of their plans.",
			units.Number, third,
			query{fmt.Sprintf("sum(%s)", ofNetworks(metric("shardyard_shardnetwork_nodes_ready", inNamespace))), "ready"},
			query{fmt.Sprintf("sum(%s)", ofNetworks(metric("shardyard_shardnetwork_nodes_wanted", inNamespace))), "wanted"}),
		latest("Cost", "Estimated cost of all networks while they run, per hour.",
			units.Dollars, third,
			query{fmt.Sprintf("sum(%s)", ofNetworks(metric("shardyard_shardnetwork_usd_per_hour", inNamespace))), "per hour"}),
		many("Conditions that are not True", "Conditions of networks that are False or Unknown, with their reasons.",
			units.Number, half,
			query{
				fmt.Sprintf("max by (namespace, network, condition, reason) (%s)", condition(`status!="True"`)),
				"{{network}} {{condition}} {{reason}}",
			}),
		many("Transfers per second by network", "As the status of each network says, over its latest finalised blocks.",
			units.Short, half,
			query{ofNetworks(metric("shardyard_shardnetwork_transfers_per_second", inNamespace)), "{{network}}"}),
		many("Block time by network", "As the status of each network says, over its latest finalised blocks.",
			units.Milliseconds, half,
			query{ofNetworks(metric("shardyard_shardnetwork_block_time_milliseconds", inNamespace)), "{{network}}"}),
		many("Nodes that are not ready", "Nodes of each network's plan that do not take part in its chain.",
			units.Number, half,
			query{fmt.Sprintf("%s - %s", ofNetworks(metric("shardyard_shardnetwork_nodes_wanted", inNamespace)),
				ofNetworks(metric("shardyard_shardnetwork_nodes_ready", inNamespace))), "{{network}}"}),
	}}
}

// trials is what is done to networks to learn something of them.
func trials() row {
	present := func(by, name string) string {
		return fmt.Sprintf("max by (namespace, %s) (%s == 1)", by, metric(name, inNamespace))
	}
	return row{"Benchmarks and faults", []cog.Builder[dashboard.Panel]{
		latest("Benchmarks", "Benchmarks by their phase.",
			units.Number, third,
			query{"count by (phase) (" + present("benchmark, phase", "shardyard_benchmark_phase") + ")", "{{phase}}"}),
		latest("Schedules", "Schedules by what the latest of their benchmarks that ended came to.",
			units.Number, third,
			query{"count by (phase) (" + present("schedule, phase", "shardyard_benchmark_schedule_last_result") + ")", "{{phase}}"}),
		latest("Faults", "Faults by their phase.",
			units.Number, third,
			query{"count by (phase) (" + present("network, fault, phase", "shardyard_fault_phase") + ")", "{{phase}}"}),
		many("Transfers per second by schedule", "Of the latest benchmark of each schedule that ended.",
			units.Short, half,
			query{
				fmt.Sprintf("max by (namespace, schedule) (%s)",
					metric("shardyard_benchmark_schedule_last_result_transfers_per_second", inNamespace)),
				"{{schedule}}",
			}),
		many("Times that were missed by schedule", "Times of each schedule that passed without a benchmark, since it was made.",
			units.Number, half,
			query{
				fmt.Sprintf("max by (namespace, schedule) (%s)", metric("shardyard_benchmark_schedule_missed_runs", inNamespace)),
				"{{schedule}}",
			}),
		many("What came of faults", "Whether the chain felt each fault, and whether everything was as before afterwards.",
			units.Number, half,
			query{
				fmt.Sprintf("max by (namespace, network, fault, condition, status, reason) (%s == 1)",
					metric("shardyard_fault_condition", inNamespace+`, condition=~"Effective|Recovered"`)),
				"{{network}} {{fault}} {{condition}} {{status}} {{reason}}",
			}),
		many("Time until validators were back", "How long after the end of each fault all of its validators took part again.",
			units.Milliseconds, half,
			query{
				fmt.Sprintf("max by (namespace, network, fault) (%s)", metric("shardyard_fault_recovery_milliseconds", inNamespace)),
				"{{network}} {{fault}}",
			}),
	}}
}

func reconciles() row {
	by := func(label, expression string) string { return fmt.Sprintf("sum by (%s) (%s)", label, expression) }
	return row{"The operator's work", []cog.Builder[dashboard.Panel]{
		graph("Reconciles", "How often per second a controller looks after an object.",
			units.Short, third,
			query{by("controller", rate("controller_runtime_reconcile_total", ofControllers)), "{{controller}}"}),
		graph("Reconciles that fail", "Per second, of each controller.",
			units.Short, third,
			query{by("controller", rate("controller_runtime_reconcile_errors_total", ofControllers)), "{{controller}}"}).
			AxisSoftMax(0.1),
		graph("Time of a reconcile, 99th percentile", "How long a controller is at an object.",
			units.Seconds, third,
			query{percentile("0.99", "controller", "controller_runtime_reconcile_time_seconds", ofControllers), "{{controller}}"}),
		graph("Waiting", "Objects that wait for a controller.",
			units.Number, third,
			query{by("controller", metric("workqueue_depth", ofControllers)), "{{controller}}"}),
		graph("Time of waiting, 99th percentile", "How long objects waited for a controller.",
			units.Seconds, third,
			query{percentile("0.99", "controller", "workqueue_queue_duration_seconds", ofControllers), "{{controller}}"}),
		graph("Longest at work", "How long a controller has been at the object that it has been at for the longest.",
			units.Seconds, third,
			query{
				fmt.Sprintf("max by (controller) (%s)", metric("workqueue_longest_running_processor_seconds", ofControllers)),
				"{{controller}}",
			}),
		graph("Requests to API servers", "Requests per second of all operators that are scraped with these controllers, by method.",
			units.Short, half,
			query{by("method", rate("rest_client_requests_total", "")+leading), "{{method}}"}),
		graph("Disks left behind", "Disks that outlived their network, as the operator last found them.",
			units.Number, half,
			query{fmt.Sprintf("sum(%s) or vector(0)", metric("shardyard_outlived_disks", "")), "disks"}),
	}}
}

// leading keeps what operators say that lead: others' requests have the same
// name.
const leading = ` and on (instance) controller_runtime_max_concurrent_reconciles{controller="shardnetwork"}`
