// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// nodeEndPatience is how much later than its duration a fault that nodes keep is over for
// nodes that nobody could tell.
const nodeEndPatience = time.Minute

// Task is what there is to do next for a fault.
type Task string

const (
	// TaskWait says that something is under way, or in the way.
	TaskWait Task = "Wait"
	// TaskMakePod makes the pod that measures the fault, behind its gate.
	TaskMakePod Task = "MakePod"
	// TaskDiscard deletes a pod that has done nothing and knows the network as it was.
	TaskDiscard Task = "Discard"
	// TaskRelease lets that pod begin.
	TaskRelease Task = "Release"
	// TaskKill deletes the pods that are noted.
	TaskKill Task = "Kill"
	// TaskTakeBack ends the pod that measures, and the fault.
	TaskTakeBack Task = "TakeBack"
)

// Observation is a fault and what there is of it in the cluster.
type Observation struct {
	Fault *v1alpha1.Fault
	// Network is the network of the fault; nil when there is none.
	Network *v1alpha1.ShardNetwork
	// Scope are the validators that the fault is of, and Unusable says why there are none.
	Scope    []topology.Validator
	Unusable string
	// Others are the other faults of the network.
	Others []v1alpha1.Fault
	// Claimant is the benchmark whose load the network carries; empty when there is none.
	Claimant string
	// Pod is the pod that measures; nil when there is none.
	Pod *corev1.Pod
	// Measured is what it said at its end; nil when it said nothing that can be
	// understood.
	Measured *v1alpha1.FaultStatus
	// Victims are the pods of the validators in scope, by validator, of a fault that kills
	// them.
	Victims map[string]*corev1.Pod
	Now     time.Time
}

// Ended says whether a fault is in a phase that is for good.
func Ended(phase v1alpha1.FaultPhase) bool {
	return phase == v1alpha1.FaultMeasured || phase == v1alpha1.FaultNotMeasured
}

// GoesOn says whether a fault may be in effect, or be taken back.
func GoesOn(phase v1alpha1.FaultPhase) bool {
	return phase == v1alpha1.FaultRunning || phase == v1alpha1.FaultStopping
}

// Advance takes a fault one step on: what there is to do now, and the status that
// says what is so once that is done. The pod that measures begins once the status names
// it, and pods are killed once it names them, so whoever comes in between does neither a
// second time.
func Advance(o *Observation, status *v1alpha1.FaultStatus) Task {
	switch status.Phase {
	case v1alpha1.FaultRunning:
		return run(o, status)
	case v1alpha1.FaultStopping:
		return TaskTakeBack
	default:
		return begin(o, status)
	}
}

// begin has the pod of a fault made, and notes it once nothing is in the way.
func begin(o *Observation, status *v1alpha1.FaultStatus) Task {
	status.Phase = v1alpha1.FaultPending
	if words := unfit(o); words != "" {
		end(o.Fault, status, v1alpha1.ReasonNotRunnable, words, o.Now)
		return TaskWait
	}
	if words := networkWaits(o); words != "" {
		noteReady(o.Fault, status, metav1.ConditionFalse, v1alpha1.ReasonNetworkWaits, "nothing was done: "+words, o.Now)
		return TaskWait
	}
	if o.Pod == nil {
		underWay(o, status, "the pod that measures it is made")
		return TaskMakePod
	}
	if o.Pod.DeletionTimestamp != nil {
		underWay(o, status, "it waits until a pod that has done nothing is gone")
		return TaskWait
	}
	if !resources.Knows(o.Pod, o.Network) {
		underWay(o, status, "the spec of its network was changed, and the pod that measures it is made again")
		return TaskDiscard
	}
	status.Phase = v1alpha1.FaultRunning
	status.PodUID = string(o.Pod.UID)
	status.NetworkUID, status.NetworkGeneration = string(o.Network.UID), o.Network.Generation
	status.ValidatorsTotal = int32(len(o.Scope))
	underWay(o, status, "the pod that measures it starts")
	return TaskWait
}

// run has a fault measured.
func run(o *Observation, status *v1alpha1.FaultStatus) Task {
	pod := o.Pod
	switch {
	case pod == nil || string(pod.UID) != status.PodUID:
		return stop(o, status, "the pod that measured it was deleted")
	case pod.Status.Phase == corev1.PodFailed:
		return stop(o, status, "the pod that measured it ended: "+pods.Trouble(pod))
	case pods.Ended(pod) && o.Measured == nil:
		return stop(o, status, "the pod that measured it ended and did not say what came of it")
	case pods.Ended(pod) && spared(o, status) != "":
		return stop(o, status, spared(o, status))
	case pods.Ended(pod):
		noteMeasured(o, status)
		return TaskWait
	case pod.DeletionTimestamp != nil:
		return stop(o, status, "the pod that measured it was deleted")
	}
	if lost := networkLost(o.Network, status); lost != "" {
		return stop(o, status, lost)
	}
	if resources.Gated(pod) {
		underWay(o, status, "the pod that measures it starts")
		return TaskRelease
	}
	if pod.Status.Phase != corev1.PodRunning {
		if o.Now.Sub(resources.Released(pod)) > pods.Patience {
			return stop(o, status, fmt.Sprintf("the pod that measures it did not start within %s: %s", pods.Patience, pods.Trouble(pod)))
		}
		underWay(o, status, "the pod that measures it starts: "+pods.Trouble(pod))
		return TaskWait
	}
	if fault.PartInPod(&o.Fault.Spec) == "" {
		return kill(o, status)
	}
	underWay(o, status, "a pod measures the network before, during and after the fault, which it begins")
	return TaskWait
}

// kill has validators killed while the pod that measures says that it is time.
func kill(o *Observation, status *v1alpha1.FaultStatus) Task {
	due := pods.Ready(o.Pod)
	switch {
	case len(status.Victims) == 0 && !due:
		underWay(o, status, "a pod measures the network before the fault")
		return TaskWait
	case len(status.Victims) == 0:
		return noteVictims(o, status)
	}
	alive := func(noted v1alpha1.FaultPod) bool { return o.victim(noted) != nil }
	if due && slices.ContainsFunc(status.Victims, alive) {
		underWay(o, status, fmt.Sprintf("it is time to kill %s", wording.Count(len(status.Victims), "validator")))
		return TaskKill
	}
	if words := killedInPart(o, status); words != "" && !due {
		// Whoever is killed now is so in the middle of what is measured.
		return stop(o, status, words)
	}
	underWay(o, status, "a pod measures the network during and after the fault")
	return TaskWait
}

// victim is the very pod that is noted; nil once it is gone.
func (o *Observation) victim(noted v1alpha1.FaultPod) *corev1.Pod {
	if live := o.Victims[noted.Validator]; live != nil && string(live.UID) == noted.UID {
		return live
	}
	return nil
}

// killed says whether the very pod that is noted is gone, or goes.
func (o *Observation) killed(noted v1alpha1.FaultPod) bool {
	live := o.victim(noted)
	return live == nil || live.DeletionTimestamp != nil
}

// spared says that a fault that kills pods has not killed all of them; empty when it has.
func spared(o *Observation, status *v1alpha1.FaultStatus) string {
	if fault.PartInPod(&o.Fault.Spec) == "" && !slices.ContainsFunc(status.Victims, o.killed) {
		// A node that is slow, or ends by itself, looks as if it had been killed.
		return "nobody was killed, and the pod that measured it took something else for that"
	}
	return killedInPart(o, status)
}

// killedInPart says which of the validators that are noted were killed and which were not,
// by an operator that ended in between for one; empty when it is all of them, or none.
func killedInPart(o *Observation, status *v1alpha1.FaultStatus) string {
	var killed, others []string
	for _, noted := range status.Victims {
		if o.killed(noted) {
			killed = append(killed, noted.Validator)
		} else {
			others = append(others, noted.Validator)
		}
	}
	if len(killed) == 0 || len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("not all of %s were killed while the pod that measures asked for it: killed %s, and not killed %s",
		wording.Count(len(status.Victims), "validator"), wording.List(killed), wording.List(others))
}

// noteVictims notes the very pods that are deleted next.
func noteVictims(o *Observation, status *v1alpha1.FaultStatus) Task {
	var victims []v1alpha1.FaultPod
	for i := range o.Scope {
		name := o.Scope[i].Name
		pod := o.Victims[name]
		if pod == nil || pod.DeletionTimestamp != nil {
			return stop(o, status, fmt.Sprintf("validator %s has no pod that could be killed", name))
		}
		victims = append(victims, v1alpha1.FaultPod{Validator: name, UID: string(pod.UID)})
	}
	status.Victims = victims
	underWay(o, status, fmt.Sprintf("it is time to kill %s", wording.Count(len(victims), "validator")))
	return TaskWait
}

// noteMeasured notes what came of a fault.
func noteMeasured(o *Observation, status *v1alpha1.FaultStatus) {
	said := o.Measured
	status.StartTime, status.EndTime = said.StartTime, said.EndTime
	status.RecoveryMilliseconds = said.RecoveryMilliseconds
	status.ValidatorsTotal, status.Validators = said.ValidatorsTotal, said.Validators
	status.Windows, status.Felt = said.Windows, said.Felt
	status.Phase = v1alpha1.FaultMeasured
	var words []string
	for _, condition := range said.Conditions {
		condition.ObservedGeneration = o.Fault.Generation
		meta.SetStatusCondition(&status.Conditions, condition)
		words = append(words, fmt.Sprintf("%s is %s (%s)", condition.Type, condition.Status, condition.Reason))
	}
	noteReady(o.Fault, status, metav1.ConditionTrue, v1alpha1.ReasonMeasured,
		"the fault is over, and was measured: "+strings.Join(words, ", "), o.Now)
}

// stop notes why a fault is not measured. What is left of it is taken back once
// that is noted.
func stop(o *Observation, status *v1alpha1.FaultStatus, problem string) Task {
	status.Phase, status.Problem = v1alpha1.FaultStopping, wording.Shorten(problem)
	now := metav1.NewTime(o.Now)
	status.StopTime = &now
	noteReady(o.Fault, status, metav1.ConditionFalse, v1alpha1.ReasonTakingBack, "it is taken back, and not measured: "+status.Problem, o.Now)
	return TaskWait
}

// TakenBack notes that nothing is left of a fault that is not measured.
func TakenBack(o *Observation, status *v1alpha1.FaultStatus) {
	end(o.Fault, status, v1alpha1.ReasonNotMeasured, "the fault is over, and what came of it is not known: "+status.Problem, o.Now)
}

// OverByItself says whether the nodes have ended a fault that they keep by their own
// clocks, since it was to be taken back at a time.
func OverByItself(fault *v1alpha1.Fault, since, now time.Time) bool {
	return now.Sub(since) > time.Duration(fault.Spec.DurationSeconds)*time.Second+nodeEndPatience
}

// networkLost says why the network of a fault is no longer what it was when the
// fault began; empty when it is.
func networkLost(network *v1alpha1.ShardNetwork, status *v1alpha1.FaultStatus) string {
	switch {
	case network == nil:
		return "its network was deleted"
	case string(network.UID) != status.NetworkUID:
		return "its network was deleted, and there is another of its name"
	case network.DeletionTimestamp != nil:
		return "somebody deletes its network"
	case network.Generation != status.NetworkGeneration:
		return "the spec of its network was changed meanwhile"
	}
	if words := rollsOut(network); words != "" {
		return "its network " + words
	}
	return policy.LetGo(network)
}
