// SPDX-License-Identifier: Apache-2.0

package rules

import "fmt"

// schedules has the alerts about benchmarks that are made by a schedule. Each holds
// until the schedule does again what it is for.
func schedules() []Rule {
	const which = "schedule {{ $labels.schedule }} in namespace {{ $labels.namespace }}"
	return rulesOf(
		alert{
			name: "BenchmarkScheduleNotReady", severity: warning, lasts: "15m",
			// One that somebody suspended is not meant to start any.
			expr: fmt.Sprintf("%s\nunless on (namespace, schedule)\n%s\n",
				ofSchedules(`shardyard_benchmark_schedule_condition{condition="Ready",status!="True"}`),
				ofSchedules(`shardyard_benchmark_schedule_state{state="Suspended"}`)),
			summary: "Schedule {{ $labels.schedule }} starts no benchmarks",
			description: "The condition Ready of " + which + " has not been True for a quarter of an hour: its next benchmark is not " +
				"started when it is due. Its message says why.",
		},
		alert{
			name: "BenchmarkScheduleMissed", severity: warning,
			expr:    ofSchedules(`shardyard_benchmark_schedule_condition{condition="OnTime",status="False"}`) + "\n",
			summary: "Schedule {{ $labels.schedule }} has missed a benchmark",
			description: "No benchmark was started at the latest time of " + which + ". The condition OnTime says why. The alert ends " +
				"when one is started on time.",
		},
		alert{
			name: "BenchmarkScheduleFailing", severity: warning,
			expr:    ofSchedules(`shardyard_benchmark_schedule_last_result{phase!="Succeeded"}`) + "\n",
			summary: "The latest benchmark of schedule {{ $labels.schedule }} did not succeed",
			description: "The latest benchmark of " + which + " that ended failed or regressed. The alert ends when one succeeds, however " +
				"long ago the other was, and whether or not it is kept.",
		},
	)
}

// ofSchedules has one element for each schedule of which the state of a set is 1.
func ofSchedules(state string) string {
	return fmt.Sprintf("max by (namespace, schedule) (%s == 1)", state)
}
