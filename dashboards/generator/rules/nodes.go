// SPDX-License-Identifier: Apache-2.0

package rules

import "fmt"

// volumes chooses the volume claims of validators: those of StatefulSets of one
// pod, whose name says of which network and validator they are.
const (
	volumes    = `{persistentvolumeclaim=~"data-.+-0"}`
	volumeName = `data-(.+)-(s[0-9]+-p[0-9]+|[vra][0-9]+)-0`
)

// nodes has the alerts about single nodes that go on for now.
func nodes() []Rule {
	return rulesOf(
		alert{
			name: "ExecutingBehind", severity: warning, lasts: "5m",
			// Of a shard without chunks, nothing is executed; a node that is through with
			// what there is, is close to the tip at least once in a while.
			expr: fmt.Sprintf(`max by (%s) (
  min_over_time((shardnode_finalized_height - shardnode_executed_height)[5m:30s]) > 10
  and
  changes(shardnode_executed_height[5m]) > 0
)
`, perNode),
			summary: "Executing chunks falls behind on " + theNode,
			description: "For five minutes, " + theNode + " in namespace {{ $labels.namespace }} has been at least {{ $value }} " +
				"blocks behind the finalised ones with executing its shard. Above ten, it counts as not ready.",
		},
		alert{
			name: "OpenFilesRunningOut", severity: warning, lasts: "5m",
			expr:    fmt.Sprintf("max by (%s) (shardnode_process_open_files / shardnode_process_open_files_limit) > 0.8\n", perNode),
			summary: "Open files run out on " + theNode,
			description: "The process of " + theNode + " in namespace {{ $labels.namespace }} has {{ $value | humanizePercentage }} " +
				"of the files open that it may have. At the limit it can neither store nor connect, and ends.",
		},
		alert{
			name: "DiskRunningOut", severity: warning, lasts: "10m",
			expr: fmt.Sprintf(`label_replace(
  %[1]s < 0.1
  or
  %[1]s < 0.4
  and
  min by (namespace, persistentvolumeclaim) (predict_linear(kubelet_volume_stats_available_bytes%[2]s[1h], 4 * 3600)) < 0,
  "network", "$1", "persistentvolumeclaim", "%[3]s"
)
and on (namespace, network)
shardyard_shardnetwork_created
`, available(), volumes, volumeName),
			summary: "The disk {{ $labels.persistentvolumeclaim }} of " + theNetwork + " runs out",
			description: "{{ $value | humanizePercentage }} of the volume {{ $labels.persistentvolumeclaim }} of " + theNetwork +
				" in namespace {{ $labels.namespace }} is free: less than a tenth, or it is full within four hours as it fills now. " +
				"A validator whose disk is full ends.",
		},
	)
}

// available is the part of a volume that is free.
func available() string {
	return fmt.Sprintf("min by (namespace, persistentvolumeclaim) "+
		"(kubelet_volume_stats_available_bytes%[1]s / kubelet_volume_stats_capacity_bytes%[1]s)", volumes)
}
