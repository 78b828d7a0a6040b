// SPDX-License-Identifier: Apache-2.0

package rules

import "fmt"

// perFault is what series of one fault have in common.
const perFault = "namespace, network, fault"

// faultSpareSeconds is how much longer than the parts of its spec a fault may go on:
// its pod may take ten minutes to start, and is ended ten minutes after the last part.
const faultSpareSeconds = 1200

// faults has the alerts about faults that somebody has happen on purpose. What they
// do to a chain, the alerts about the chain say.
func faults() []Rule {
	const which = "fault {{ $labels.fault }} of " + theNetwork + " in namespace {{ $labels.namespace }}"
	goesOn := fmt.Sprintf(`max by (%s) (shardyard_fault_phase{phase=~"Running|Stopping"} == 1)`, perFault)
	limit := fmt.Sprintf("(%d + max by (%s) (shardyard_fault_baseline_seconds + shardyard_fault_duration_seconds"+
		" + shardyard_fault_recovery_limit_seconds))", faultSpareSeconds, perFault)
	return rulesOf(
		alert{
			name: "FaultOverdue", severity: warning,
			// A fault may wait before it begins, so it is counted for how long it went on. An earlier one of its name counts
			// as well, but not until this one is as old. No fault may take four hours.
			expr: fmt.Sprintf(`60 * count_over_time((%[1]s)[4h:1m])
> %[2]s
and
time() - max by (%[3]s) (shardyard_fault_created) > %[2]s
and
%[1]s
`, goesOn, limit, perFault),
			summary: "Fault {{ $labels.fault }} of " + theNetwork + " goes on for longer than it should",
			description: "The " + which + " has gone on for {{ $value | humanizeDuration }}, twenty minutes longer than its baseline, " +
				"duration and recovery together. Nobody says whether the network still has it.",
		},
		alert{
			name: "FaultNotRecovered", severity: warning,
			expr: fmt.Sprintf(`max by (%[1]s) (shardyard_fault_condition{condition="Recovered",status="False"} == 1)
and
time() - max by (%[1]s) (shardyard_fault_end_time) < 24 * 3600
`, perFault),
			summary: "Not everything is as before the fault {{ $labels.fault }} of " + theNetwork,
			description: "The " + which + " is over, and in the time that its spec allows a validator did not come back or the chain " +
				"stayed worse than before. The condition Recovered says which. The alert ends a day after the fault.",
		},
	)
}
