// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

// All changes every node.
func All(observation *observed.Network, change func(*observed.Node)) {
	for i := range observation.Nodes {
		change(&observation.Nodes[i])
	}
}

// Stopped is a node that runs and takes part no more.
func Stopped(node *observed.Node) { NotReady(node) }

// Ended is a node that ran and waits to be started again.
func Ended(node *observed.Node) { Crashed(node, corev1.ContainerStateTerminated{ExitCode: 1}) }

// Cordon has some nodes be on cordoned machines, and the others on machines that
// stay.
func Cordon(observation *observed.Network, indices ...int) {
	for i := range observation.Nodes {
		observation.Nodes[i].Machine = observed.MachineOf("machine-"+strconv.Itoa(i), &corev1.Node{
			Spec: corev1.NodeSpec{Unschedulable: slices.Contains(indices, i)},
		})
	}
}

// Unanswering is a node that does not answer the operator.
func Unanswering(node *observed.Node) { node.Status = nil }

// KeepsEnding is a node that was started often enough.
func KeepsEnding(node *observed.Node) {
	Crashed(node, corev1.ContainerStateTerminated{ExitCode: 2, Message: "config.json: features: unknown field `turbo`"})
	node.Pod.Status.ContainerStatuses[0].RestartCount = 2
}

// IsLate is a node that does not take part for longer than the deadline.
func IsLate(node *observed.Node) {
	NotReady(node, "connected to 1 peer, quorum needs 2")
	Back(node, 601*time.Second)
}

// Pending is a node whose pod was just made and has no container yet.
func Pending(node *observed.Node, warnings ...string) {
	node.Pod.CreationTimestamp = metav1.NewTime(Now)
	node.Pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	node.Status, node.Warnings = nil, warned(warnings)
}

// NotReady is a node that runs and does not take part just now.
func NotReady(node *observed.Node, reasons ...string) {
	Back(node, 0)
	node.Pod.Status.Conditions[0].Status = corev1.ConditionFalse
	node.NotReady = reasons
}

// NoPod is a node without a pod.
func NoPod(node *observed.Node, warnings ...string) {
	node.Pod, node.Status, node.Warnings = nil, nil, warned(warnings)
}

// warned are warnings that the cluster gives now.
func warned(words []string) []observed.Warning {
	warnings := make([]observed.Warning, len(words))
	for i := range words {
		warnings[i] = observed.Warning{Words: words[i], At: Now}
	}
	return warnings
}

// Incomplete is a producer whose copy of its shard lacks something.
func Incomplete(node *observed.Node) {
	node.Status.Copy = &chain.CopyStatus{Missing: []string{Lacking}}
}

// Back is a node that came, or went, some time ago.
func Back(node *observed.Node, since time.Duration) {
	node.Pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(Now.Add(-since))
}

// Leaving is a node whose pod is being deleted.
func Leaving(node *observed.Node) {
	node.Pod.DeletionTimestamp = &metav1.Time{Time: Now}
}

// Unscheduled is a node whose pod has no machine, in the words of the scheduler.
func Unscheduled(node *observed.Node, words string) {
	Pending(node)
	node.Pod.Spec.NodeName = ""
	node.Pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: words,
	}}
}

// Waiting is a node whose container waits.
func Waiting(node *observed.Node, reason, words string, warnings ...string) {
	Pending(node, warnings...)
	node.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: words}},
	}}
}

// Crashed is a node that ended and waits for its next start.
func Crashed(node *observed.Node, last corev1.ContainerStateTerminated) {
	NotReady(node)
	node.Status = nil
	node.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: "back-off 20s restarting failed container=shardnode",
		}},
		LastTerminationState: corev1.ContainerState{Terminated: &last},
	}}
}

// SilentMachine is a node whose machine does not answer. Nobody told the cluster
// since that the pod does not run any more.
func SilentMachine(node *observed.Node) {
	NotReady(node)
	node.Status = nil
	node.Machine = observed.MachineOf("machine-0", &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "Kubelet stopped posting node status.",
		LastTransitionTime: metav1.NewTime(Now.Add(-2 * time.Minute)),
	}}}})
}

// Failed is a node whose pod was ended, or never begun, by its machine.
func Failed(node *observed.Node, reason, words string) {
	node.Pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason, Message: words}
	node.Status = nil
}

// Lacking is what a copy lacks, as a node says it.
const Lacking = "shard 1 has not credited what was sent before height 900"
