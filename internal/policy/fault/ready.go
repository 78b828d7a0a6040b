// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
)

// programName is as the admin API of nodes has it.
var programName = regexp.MustCompile(`^shardnode-[A-Za-z0-9._-]{0,245}$`)

// Refused says why no cluster can have a fault happen; empty when one can.
func Refused(fault *v1alpha1.Fault) string {
	spec := &fault.Spec
	silent := spec.Action == v1alpha1.FaultActionPause ||
		spec.Kill != nil && spec.Kill.Restart == v1alpha1.FaultRestartAfterDuration
	switch {
	case silent && spec.DurationSeconds > resources.MaxSilenceSeconds:
		return fmt.Sprintf("durationSeconds is %d: in a cluster, a validator that does not answer for more than %d s is started again. "+
			"A fault of a validator that is cut off with action Partition may last longer", spec.DurationSeconds, resources.MaxSilenceSeconds)
	case spec.Byzantine != nil && !programName.MatchString(spec.Byzantine.Program):
		return fmt.Sprintf("byzantine.program is %q: in a cluster, it is the name of a file beside the program shardnode in the image of the "+
			"network's nodes, which begins with shardnode- and has letters, digits, '-', '.' and '_' alone", spec.Byzantine.Program)
	default:
		return ""
	}
}

// Refuse ends a fault that no cluster can have happen.
func Refuse(fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, words string, now time.Time) {
	end(fault, status, v1alpha1.ReasonNotRunnable, words, now)
}

// Hold notes what a fault waits for.
func Hold(fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, reason, words string, now time.Time) {
	if status.Phase == "" {
		status.Phase = v1alpha1.FaultPending
	}
	noteReady(fault, status, metav1.ConditionFalse, reason, words, now)
}

// Deleted notes that a fault is taken back because it is deleted.
func Deleted(fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, now time.Time) {
	noteReady(fault, status, metav1.ConditionFalse, v1alpha1.ReasonTakingBack, "it is deleted, and taken back before it goes", now)
}

// NameTaken is a fault of which an object's name is taken.
func NameTaken(kind, name string) (reason, words string) {
	return v1alpha1.ReasonNameTaken, fmt.Sprintf("the %s %s belongs to somebody else: delete it, or make a fault of another name", kind, name)
}

// NotTakenBack is a fault that nodes could not be told the end of.
func NotTakenBack(cause error) (reason, words string) {
	return v1alpha1.ReasonTakingBack, "it is taken back, and not all nodes could be told yet: " + wording.Quote(cause.Error())
}

// NoWatchers is a fault of an operator that can make no pods that measure.
func NoWatchers() (reason, words string) {
	return v1alpha1.ReasonNotRunnable,
		"the operator does not know the image of the pods that measure faults: it was started without --recorder-image"
}

// unfit says why a fault is not for its network, whatever comes; empty when it is
// or when there is no such network yet.
func unfit(o *Observation) string {
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
func networkWaits(o *Observation) string {
	network := o.Network
	if network == nil {
		return fmt.Sprintf("there is no network %s in this namespace", o.Fault.Spec.NetworkName)
	}
	for i := range o.Others {
		if GoesOn(o.Others[i].Status.Phase) {
			return fmt.Sprintf("the fault %s of network %s goes on", o.Others[i].Name, network.Name)
		}
	}
	for i := range o.Others {
		if other := &o.Others[i]; waits(other) && older(other, o.Fault) {
			return fmt.Sprintf("the fault %s of network %s is older and comes first", other.Name, network.Name)
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
		return fmt.Sprintf("network %s is not ready: %s: %s", network.Name, ready.Reason, wording.Quote(ready.Message))
	}
	if words := rollsOut(network); words != "" {
		return fmt.Sprintf("network %s %s", network.Name, words)
	}
	if words := policy.Drained(network); words != "" {
		return fmt.Sprintf("machines of network %s are drained: %s", network.Name, words)
	}
	return ""
}

// waits says whether a fault begins by itself once nothing is in the way of it. One that
// waits for somebody to do something about it holds up no other.
func waits(fault *v1alpha1.Fault) bool {
	if fault.DeletionTimestamp != nil {
		return false
	}
	ready := meta.FindStatusCondition(fault.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case fault.Status.Phase == "":
		return true
	case fault.Status.Phase != v1alpha1.FaultPending || ready == nil:
		return false
	default:
		return ready.Reason == v1alpha1.ReasonNetworkWaits || ready.Reason == v1alpha1.ReasonUnderWay
	}
}

// older says which of two faults was made first; the API server keeps seconds, so that
// names decide between those of one file.
func older(one, other *v1alpha1.Fault) bool {
	return cmp.Or(one.CreationTimestamp.Compare(other.CreationTimestamp.Time), strings.Compare(one.Name, other.Name)) < 0
}

// rollsOut says that the nodes of a network are replaced; empty when they are not, as
// while that waits for a height.
func rollsOut(network *v1alpha1.ShardNetwork) string {
	updated := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionUpdated)
	if updated != nil && updated.Status == metav1.ConditionFalse && !policy.AwaitsItsHeight(updated) {
		return fmt.Sprintf("is rolled out: %s: %s", updated.Reason, wording.Quote(updated.Message))
	}
	return ""
}

// underWay notes what happens.
func underWay(o *Observation, status *v1alpha1.FaultStatus, words string) {
	noteReady(o.Fault, status, metav1.ConditionFalse, v1alpha1.ReasonUnderWay, words, o.Now)
}

// end notes that what comes of a fault will not be known.
func end(fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, reason, words string, now time.Time) {
	status.Phase = v1alpha1.FaultNotMeasured
	if status.Problem == "" {
		status.Problem = wording.Shorten(words)
	}
	noteReady(fault, status, metav1.ConditionFalse, reason, words, now)
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: words,
		ObservedGeneration: fault.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}

func noteReady(
	fault *v1alpha1.Fault, status *v1alpha1.FaultStatus, ready metav1.ConditionStatus, reason, words string, now time.Time,
) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: ready, Reason: reason, Message: words,
		ObservedGeneration: fault.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}
