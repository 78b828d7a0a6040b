// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// Drains are what becomes of the nodes on machines that are about to lose their
// pods.
type Drains struct {
	// LetGo are the nodes that may be evicted from now on, as indices into the
	// observation's.
	LetGo []int
	// Hold are those that may no longer be, because their machines keep them.
	Hold []int
	// MachinesKept is the condition.
	MachinesKept metav1.Condition
}

// NewDrains decides which nodes may be evicted from machines that are cordoned or
// about to be removed.
//
// They go in the same turns as nodes that are replaced, and together with these:
// one that may be evicted counts as away, whether or not somebody evicts it. A
// drain repairs nothing. So while the chain stands still, every producer stays,
// whatever its data is on: any of them may be needed for the chain to go on.
func NewDrains(observation *observed.Network) Drains {
	var (
		drains  Drains
		turns   = newTurns(observation)
		goes    string
		waits   string
		waiting int
	)
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		switch {
		case !evictable(node):
		case node.LetGo && node.Machine != nil && node.Machine.Leaving == "":
			drains.Hold = append(drains.Hold, i)
		case node.LetGo:
			goes = cmp.Or(goes, mayGo(node))
		case node.Machine == nil || node.Machine.Leaving == "":
		default:
			wait := turns.takeForDrain(i)
			if wait.over() {
				drains.LetGo = append(drains.LetGo, i)
				goes = cmp.Or(goes, mayGo(node))
				continue
			}
			waiting++
			waits = cmp.Or(waits, fmt.Sprintf("the machine %s %s; %s %s",
				node.Machine.Name, node.Machine.Leaving, node.Validator.Name, wait.words))
		}
	}
	if waiting > 1 {
		waits += fmt.Sprintf(" (and %d more wait)", waiting-1)
	}
	drains.MachinesKept = machinesKept(observation, goes, waits)
	return drains
}

// evictable says whether a node has a pod that nobody evicts whom the disruption
// budget keeps from it. It holds no pod that never ran, or has ended.
func evictable(node *observed.Node) bool {
	return node.Pod != nil && !node.Unobserved && node.Pod.DeletionTimestamp == nil && node.Pod.Status.Phase == corev1.PodRunning
}

func mayGo(node *observed.Node) string {
	if node.Machine == nil {
		return node.Validator.Name + " may be evicted from a machine of which nothing is known"
	}
	return fmt.Sprintf("%s may be evicted from the machine %s, which %s", node.Validator.Name, node.Machine.Name, node.Machine.Leaving)
}

// takeForDrain says whether it is the turn of the node at an index to leave its
// machine, and counts it then.
func (t *turns) takeForDrain(i int) wait {
	if t.observation.Nodes[i].Validator.Seat != nil && t.standsStill() {
		return awaitChain("stays while the chain stands still, which may need it to go on")
	}
	return t.take(i)
}

// standsStill says whether the chain does, as far as anybody can tell: nodes find
// out for themselves some time later.
func (t *turns) standsStill() bool {
	return !t.moving || t.best == nil || t.observation.Stalled(time.UnixMilli(t.best.FinalizedTimeMs))
}

// machinesKept says whether the machines keep their validators, given words about
// the first that may go, and about the first that stays.
func machinesKept(observation *observed.Network, goes, waits string) metav1.Condition {
	no := func(reason, message string) metav1.Condition {
		return condition.New(v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, reason, message)
	}
	switch {
	case goes != "" && waits != "":
		return no(v1alpha1.ReasonDraining, goes+"; "+waits)
	case goes != "":
		return no(v1alpha1.ReasonDraining, goes)
	case waits != "":
		return no(v1alpha1.ReasonDrainWaiting, waits)
	case len(observation.UnknownMachines) > 0:
		return condition.New(v1alpha1.ConditionMachinesKept, metav1.ConditionUnknown, v1alpha1.ReasonMachinesUnknown,
			unlooked(&observation.UnknownMachines[0]))
	default:
		return condition.New(v1alpha1.ConditionMachinesKept, metav1.ConditionTrue, v1alpha1.ReasonNothingDrained,
			"no machine of a validator is cordoned or about to be removed")
	}
}

// unlooked says what follows from machines that the operator cannot look at.
func unlooked(unknown *observed.UnknownMachines) string {
	if unknown.Cluster == "" {
		return fmt.Sprintf("the machines of the operator's own cluster cannot be looked at, so no validator may be evicted from them: %s. "+
			"Give the operator the role of its chart", wording.Quote(unknown.Cause.Error()))
	}
	return fmt.Sprintf("the machines of the cluster %s cannot be looked at, so no validator may be evicted from them: %s. "+
		"Join the cluster again with shardyard join", unknown.Cluster, wording.Quote(unknown.Cause.Error()))
}
