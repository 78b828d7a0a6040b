// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// KindPodMonitor is how the Prometheus operator is told what to scrape.
var KindPodMonitor = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PodMonitor"}

// LibraryMetrics says what becomes of the metrics that a node's libraries export.
// There are many times as many of them as of the node's own, some for each peer,
// and no dashboard and no alert uses them.
type LibraryMetrics string

const (
	// LibraryMetricsDrop has Prometheus drop them.
	LibraryMetricsDrop LibraryMetrics = "Drop"
	// LibraryMetricsKeep has it keep them.
	LibraryMetricsKeep LibraryMetrics = "Keep"
)

// NewPodMonitor has every node of a network scraped. Labels are those that the
// cluster's Prometheus selects PodMonitors by. It has no type of Go, as no kind has that
// a cluster may lack: exactly what is written here is applied, and not what a type of
// another version adds or leaves out.
func NewPodMonitor(
	network *v1alpha1.ShardNetwork, labels map[string]string, libraries LibraryMetrics,
) *unstructured.Unstructured {
	monitor := &unstructured.Unstructured{}
	monitor.SetGroupVersionKind(KindPodMonitor)
	meta := owned(network, network.Name)
	maps.Copy(meta.Labels, labels)
	monitor.SetNamespace(meta.Namespace)
	monitor.SetName(meta.Name)
	monitor.SetLabels(meta.Labels)
	monitor.SetOwnerReferences(meta.OwnerReferences)

	selector := map[string]any{}
	for label, value := range networkSelector(network.Name) {
		selector[label] = value
	}
	endpoint := map[string]any{
		"port": PortHTTP,
		"path": "/metrics",
		// The nodes' own labels say which network, region and shard a series
		// is of.
		"honorLabels": true,
		"interval":    "5s",
	}
	if libraries != LibraryMetricsKeep {
		endpoint["metricRelabelings"] = []any{map[string]any{
			"sourceLabels": []any{"__name__"},
			"regex":        "shardnode_.*",
			"action":       "keep",
		}}
	}
	monitor.Object["spec"] = map[string]any{
		"selector":            map[string]any{"matchLabels": selector},
		"podMetricsEndpoints": []any{endpoint},
	}
	return monitor
}
