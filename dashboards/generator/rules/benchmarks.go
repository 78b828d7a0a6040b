// SPDX-License-Identifier: Apache-2.0

package rules

import "fmt"

// benchmarks has the alerts about what benchmarks came to. They are about news:
// the object, and with it the phase, stays for as long as somebody wants it.
func benchmarks() []Rule {
	const which = "benchmark {{ $labels.benchmark }} in namespace {{ $labels.namespace }}"
	return rulesOf(
		alert{
			name: "BenchmarkFailed", severity: warning,
			expr:    ended("Failed"),
			summary: "Benchmark {{ $labels.benchmark }} failed",
			description: "A run of " + which + " broke, or its result misses a criterion of the spec. The condition Ready says " +
				"which. The alert ends a day after the benchmark.",
		},
		alert{
			name: "BenchmarkRegressed", severity: warning,
			expr:    ended("Regressed"),
			summary: "Benchmark {{ $labels.benchmark }} regressed",
			description: "The result of " + which + " is worse than what it is compared with. The condition Ready says by how much. " +
				"The alert ends a day after the benchmark.",
		},
	)
}

// ended has the benchmarks that ended in a phase within the last day.
func ended(phase string) string {
	return fmt.Sprintf(`max by (namespace, benchmark) (shardyard_benchmark_phase{phase=%q} == 1)
and on (namespace, benchmark)
time() - max by (namespace, benchmark) (shardyard_benchmark_end_time) < 24 * 3600
`, phase)
}
