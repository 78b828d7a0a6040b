// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// PodMonitorApplied is a network whose PodMonitor the clusters have, as far as they can be
// used.
func PodMonitorApplied(name string, lost []LostCluster) metav1.Condition {
	message := "the PodMonitor " + name + " has the nodes scraped"
	if len(lost) > 0 {
		message += "; nothing is known of the nodes in " + namesOf(lost) + ": see the condition ClustersAvailable"
	}
	return condition.New(v1alpha1.ConditionMonitored, metav1.ConditionTrue, v1alpha1.ReasonPodMonitorApplied, message)
}

// MonitoringUnknown is a network of which no cluster with nodes can be asked.
func MonitoringUnknown(lost []LostCluster) metav1.Condition {
	return condition.New(v1alpha1.ConditionMonitored, metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable,
		"whether the nodes in "+namesOf(lost)+" are scraped is not known: see the condition ClustersAvailable")
}

// PodMonitorUnavailable are clusters without the kind PodMonitor, by the names of
// members; the operator's own has none.
func PodMonitorUnavailable(clusters []string) metav1.Condition {
	var lacking []string
	for _, cluster := range slices.Sorted(slices.Values(clusters)) {
		if cluster == "" {
			cluster = "the operator's own cluster"
		}
		lacking = append(lacking, cluster)
	}
	return condition.New(v1alpha1.ConditionMonitored, metav1.ConditionFalse, v1alpha1.ReasonPodMonitorUnavailable,
		"there is no kind PodMonitor (monitoring.coreos.com/v1) in "+wording.List(lacking)+": install the Prometheus operator there, "+
			"or have the pods' port http scraped at /metrics by another way; the network runs without")
}

// PodMonitorFailed is a PodMonitor that cannot be made; cause says why.
func PodMonitorFailed(cause error) metav1.Condition {
	return condition.New(v1alpha1.ConditionMonitored, metav1.ConditionFalse, v1alpha1.ReasonPodMonitorFailed,
		"the PodMonitor of the network cannot be made: "+wording.Quote(cause.Error())+"; the network runs without")
}
