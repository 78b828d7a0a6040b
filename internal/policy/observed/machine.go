// SPDX-License-Identifier: Apache-2.0

package observed

import (
	corev1 "k8s.io/api/core/v1"
)

// Machine is what its cluster says of the machine that a node's pod is on.
type Machine struct {
	Name string
	// Gone machines are no longer of the cluster.
	Gone bool
	// NotReady is the machine's condition Ready while that is not True.
	NotReady *corev1.NodeCondition
	// Leaving is why the machine is about to lose its pods; empty when it keeps
	// them.
	Leaving string
}

// UnknownMachines are those of a cluster that the operator cannot look at.
type UnknownMachines struct {
	// Cluster is the name of a member; empty is the operator's own.
	Cluster string
	Cause   error
}

// leavingTaints are those that a machine has while somebody who is about to
// remove it evicts its pods. Marks of mere candidates are not among them.
var leavingTaints = []string{
	"ToBeDeletedByClusterAutoscaler",
	"karpenter.sh/disrupted",
	// Karpenter before version 1.
	"karpenter.sh/disruption",
	"cloud.google.com/impending-node-termination",
	"aws-node-termination-handler/spot-itn",
}

// MachineOf is the state of a machine; nil is one that its cluster does not have.
func MachineOf(name string, node *corev1.Node) *Machine {
	if node == nil {
		return &Machine{Name: name, Gone: true}
	}
	return &Machine{Name: name, NotReady: notReadyCondition(node), Leaving: leavingBecause(node)}
}

func notReadyCondition(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if found := &node.Status.Conditions[i]; found.Type == corev1.NodeReady && found.Status != corev1.ConditionTrue {
			return found.DeepCopy()
		}
	}
	return nil
}

// leavingBecause says why a machine is about to lose its pods. A cordon comes
// first with whatever drains a machine by hand or by way of the cloud.
func leavingBecause(node *corev1.Node) string {
	if node.Spec.Unschedulable {
		return "is cordoned"
	}
	for _, taint := range node.Spec.Taints {
		for _, key := range leavingTaints {
			if taint.Key == key {
				return "has the taint " + key
			}
		}
	}
	return ""
}

// silent says whether nobody tells any more how the machine's pods are: what the
// cluster has of them is as it last was.
func (m *Machine) silent() bool {
	return m != nil && (m.Gone || m.NotReady != nil && m.NotReady.Status == corev1.ConditionUnknown)
}
