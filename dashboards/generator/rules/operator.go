// SPDX-License-Identifier: Apache-2.0

package rules

import "fmt"

// controllers chooses the operator's own: others' have the same metrics.
const controllers = `{controller=~"shardnetwork|benchmark|benchmarkschedule|fault|nodetuning"}`

// operator has the alerts about the operator itself. Networks run on without it.
func operator() []Rule {
	return rulesOf(
		alert{
			name: "OperatorDown", severity: warning, lasts: "10m",
			// Only an operator that leads runs controllers.
			expr: `count(shardyard_shardnetwork_created) > 0
unless on ()
count(controller_runtime_max_concurrent_reconciles{controller="shardnetwork"}) > 0
`,
			summary: "No operator looks after the networks",
			description: "There are {{ $value }} networks, and for ten minutes no operator that leads has been scraped: it does not " +
				"run, or Prometheus does not reach it. What fails meanwhile stays as it is.",
		},
		alert{
			name: "OperatorNotReconciling", severity: warning, lasts: "10m",
			expr: fmt.Sprintf(`max by (%[1]s) (shardyard_shardnetwork_generation)
>
(max by (%[1]s) (shardyard_shardnetwork_observed_generation) or 0 * max by (%[1]s) (shardyard_shardnetwork_generation))
`, perNetwork),
			summary: "The operator does not take up changes of " + theNetwork,
			description: "The spec of " + theNetwork + " in namespace {{ $labels.namespace }} has had generation {{ $value }} for ten " +
				"minutes, and its status is still about an earlier one.",
		},
		alert{
			name: "OperatorRefused", severity: warning, lasts: "5m",
			expr:    "max by (group, resource) (shardyard_refused_watches) == 1\n",
			summary: "The operator may not watch {{ $labels.resource }}",
			description: "For five minutes, the operator has been refused to list or to watch {{ $labels.resource }}" +
				"{{ with $labels.group }} of {{ . }}{{ end }}: it knows nothing of them, or nothing new, and what depends on them stays as it is.",
		},
		alert{
			name: "OperatorStuck", severity: warning, lasts: "5m",
			expr:    fmt.Sprintf("max by (controller) (workqueue_longest_running_processor_seconds%s) > 300\n", controllers),
			summary: "The controller {{ $labels.controller }} of the operator is stuck",
			description: "The controller {{ $labels.controller }} has been at one object for {{ $value | humanizeDuration }}: " +
				"nothing else may be done for that object, and few others in its stead.",
		},
		alert{
			name: "OperatorFailing", severity: warning, lasts: "15m",
			expr: fmt.Sprintf(`sum by (controller) (rate(controller_runtime_reconcile_errors_total%[1]s[10m]))
/
sum by (controller) (rate(controller_runtime_reconcile_total%[1]s[10m]))
> 0.2
`, controllers),
			summary: "The controller {{ $labels.controller }} of the operator fails again and again",
			description: "{{ $value | humanizePercentage }} of what the controller {{ $labels.controller }} did in the last ten " +
				"minutes ended in an error.",
		},
	)
}
