// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// FaultRefused says why no cluster can have a fault happen; empty when one can.
func FaultRefused(fault *v1alpha1.Fault) string {
	switch spec := &fault.Spec; {
	case spec.Action == v1alpha1.FaultActionPause:
		return "action Pause is for networks on one machine: a process in a pod is stopped from outside with privileges on its machine " +
			"alone, which the operator does not have. Action Partition leaves connections open as well, with nobody who answers"
	case spec.Action == v1alpha1.FaultActionByzantine:
		return "action Byzantine is for networks on one machine: another program in the place of a validator would be given its key " +
			"and its volume by the operator, for a time that does not end by itself should the operator be lost. " +
			"A validator that is cut off with action Partition endorses nothing either"
	case spec.Kill != nil && spec.Kill.Restart == v1alpha1.FaultRestartAfterDuration:
		return "kill.restart AfterDuration is for networks on one machine: what keeps a validator away in a cluster does not end by itself " +
			"should the operator be lost. Kill with restart AtOnce, or cut the validator off with action Partition"
	default:
		return ""
	}
}

// RefuseFault ends a fault that no cluster can have happen.
func RefuseFault(fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, words string, now time.Time) {
	endFault(fault, status, v1alpha1.ReasonNotRunnable, words, now)
}

// HoldFault notes what a fault waits for.
func HoldFault(fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, reason, words string, now time.Time) {
	if status.Phase == "" {
		status.Phase = v1alpha1.FaultPending
	}
	noteFault(fault, status, metav1.ConditionFalse, reason, words, now)
}

// DeletedFault notes that a fault is taken back because it is deleted.
func DeletedFault(fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, now time.Time) {
	noteFault(fault, status, metav1.ConditionFalse, v1alpha1.ReasonTakingBack, "it is deleted, and taken back before it goes", now)
}

// FaultNameTaken is a fault of which an object's name is taken.
func FaultNameTaken(kind, name string) (reason, words string) {
	return v1alpha1.ReasonNameTaken, fmt.Sprintf("the %s %s belongs to somebody else: delete it, or make a fault of another name", kind, name)
}

// FaultNotTakenBack is a fault that nodes could not be told the end of.
func FaultNotTakenBack(cause error) (reason, words string) {
	return v1alpha1.ReasonTakingBack, "it is taken back, and not all nodes could be told yet: " + quote(cause.Error())
}

// NoWatchers is a fault of an operator that can make no pods that measure.
func NoWatchers() (reason, words string) {
	return v1alpha1.ReasonNotRunnable,
		"the operator does not know the image of the pods that measure faults: it was started without --recorder-image"
}

// faultUnfit says why a fault is not for its network, whatever comes; empty when it is
// or when there is no such network yet.
func faultUnfit(o *FaultObservation) string {
	network := o.Network
	if network == nil {
		return ""
	}
	for i := range network.Spec.Regions {
		if region := &network.Spec.Regions[i]; region.Cluster != "" {
			return fmt.Sprintf("region %s of network %s is in another cluster, where nobody measures: "+
				"a fault is of a network that has all regions in the operator's cluster", region.Name, network.Name)
		}
	}
	if owner := metav1.GetControllerOf(network); owner != nil && owner.Kind == v1alpha1.KindBenchmark {
		return fmt.Sprintf("network %s is of a run of the Benchmark %s, which a fault would break", network.Name, owner.Name)
	}
	return o.Unusable
}

// networkWaits says why it could not be told now what comes of a fault; empty when it
// could.
func networkWaits(o *FaultObservation) string {
	network := o.Network
	if network == nil {
		return fmt.Sprintf("there is no network %s in this namespace", o.Fault.Spec.NetworkName)
	}
	for i := range o.Others {
		if FaultGoesOn(o.Others[i].Status.Phase) {
			return fmt.Sprintf("the fault %s of network %s goes on", o.Others[i].Name, network.Name)
		}
	}
	if o.Claimant != "" {
		return fmt.Sprintf("network %s carries the load of the Benchmark %s, which a fault would break", network.Name, o.Claimant)
	}
	if network.DeletionTimestamp != nil {
		return fmt.Sprintf("network %s is deleted", network.Name)
	}
	ready := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != network.Generation:
		return fmt.Sprintf("it is not known yet whether network %s is ready", network.Name)
	case ready.Status != metav1.ConditionTrue:
		return fmt.Sprintf("network %s is not ready: %s: %s", network.Name, ready.Reason, quote(ready.Message))
	}
	if words := rollsOut(network); words != "" {
		return fmt.Sprintf("network %s %s", network.Name, words)
	}
	if kept := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionMachinesKept); kept != nil &&
		kept.Status == metav1.ConditionFalse {
		return fmt.Sprintf("machines of network %s are drained: %s", network.Name, quote(kept.Message))
	}
	return ""
}

// rollsOut says that the nodes of a network are replaced; empty when they are not.
func rollsOut(network *v1alpha1.ShardNetwork) string {
	updated := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionUpdated)
	if updated != nil && updated.Status == metav1.ConditionFalse {
		return fmt.Sprintf("is rolled out: %s: %s", updated.Reason, quote(updated.Message))
	}
	return ""
}

// faultUnderWay notes what happens.
func faultUnderWay(o *FaultObservation, status *v1alpha1.FaultStatus, words string) {
	noteFault(o.Fault, status, metav1.ConditionFalse, v1alpha1.ReasonUnderWay, words, o.Now)
}

// endFault notes that what comes of a fault will not be known.
func endFault(fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, reason, words string, now time.Time) {
	status.Phase = v1alpha1.FaultNotMeasured
	if status.Problem == "" {
		status.Problem = shorten(words)
	}
	noteFault(fault, status, metav1.ConditionFalse, reason, words, now)
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: words,
		ObservedGeneration: fault.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}

func noteFault(
	fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, ready metav1.ConditionStatus, reason, words string, now time.Time,
) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: ready, Reason: reason, Message: words,
		ObservedGeneration: fault.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}
