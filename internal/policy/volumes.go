// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// fileSystemGrace is how long the file system of a volume that has grown has to
// grow under a node that runs. Most drivers do so within seconds; the others wait
// until the node's pod starts again.
const fileSystemGrace = 2 * time.Minute

// Volume is the disk of a node as it was last seen.
type Volume struct {
	Validator topology.Validator
	// Wanted is the size that the spec says.
	Wanted resource.Quantity
	// Template is the size of the claims that the node's StatefulSet makes; nil while
	// there is no StatefulSet that the cluster has taken up.
	Template *resource.Quantity
	// Claim is the node's claim; nil when there is none.
	Claim *corev1.PersistentVolumeClaim
	// Class is the storage class of a claim that asks for too little, and
	// ClassFailed why it could not be read.
	Class       *storagev1.StorageClass
	ClassFailed error
	// Refused is why the claim could not be made to ask for more.
	Refused error
	// Unobserved volumes are in a cluster that cannot be used now.
	Unobserved bool
	// Failed is why the claims of the cluster could not be looked at.
	Failed error
}

// VolumesToGrow are the volumes whose claims are to ask for more now, as indices.
// A claim whose class is known not to let it is left as it is.
func VolumesToGrow(volumes []Volume) []int {
	var found []int
	for i := range volumes {
		if v := &volumes[i]; v.small() && v.Refused == nil && v.barrier() == notBarred {
			found = append(found, i)
		}
	}
	return found
}

// Renewal is what to do about StatefulSets that make smaller claims than the spec
// says. What they make cannot change, so they are made anew around their pods.
type Renewal struct {
	// Now are those to delete now, without their pods, as indices of the volumes.
	Now []int
	// Over is true when there is none, and none is on its way.
	Over bool
}

// NewRenewal decides which StatefulSets to make anew now. One is, once the claim
// that it made asks for what the spec says, or is gone, so that the next one does.
//
// A cluster that lets StatefulSets go may not take new ones: a quota or a webhook
// may stand against them, and nobody makes a pod again that has none. So the first
// goes alone, nobody goes while one is missing, and then as many at a time as came
// back before.
func NewRenewal(volumes []Volume, renewed int) Renewal {
	var due []int
	missing := false
	for i := range volumes {
		switch v := &volumes[i]; {
		case v.Unobserved:
		case v.Template == nil:
			missing = true
		case v.known() && v.Template.Cmp(v.Wanted) < 0 && (v.gone() || v.asks() || v.has()):
			due = append(due, i)
		}
	}
	if missing {
		return Renewal{}
	}
	return Renewal{Now: due[:min(len(due), max(1, renewed))], Over: len(due) == 0}
}

// VolumesMove says whether volumes are on their way to the size of the spec, or not
// known.
func VolumesMove(volumes []Volume) bool {
	for i := range volumes {
		v := &volumes[i]
		if v.Unobserved || v.known() && !v.has() && v.trouble() == "" && (!v.small() || v.barrier() == notBarred) {
			return true
		}
	}
	return false
}

// AwaitsStart says whether a node's pod has to start again for the file system of
// its volume to grow. One that was made since then has, and one without a
// StatefulSet would not come back.
func (v *Volume) AwaitsStart(pod *corev1.Pod, now time.Time) bool {
	if !v.known() || v.Template == nil || pod == nil || v.has() {
		return false
	}
	pending := v.fileSystemPending(now)
	return pending != nil && pod.CreationTimestamp.Before(&pending.LastTransitionTime)
}

// fileSystemPending is the claim's condition that its file system has yet to grow,
// when that has been so for longer than it takes a driver under a running node.
func (v *Volume) fileSystemPending(now time.Time) *corev1.PersistentVolumeClaimCondition {
	pending := v.condition(corev1.PersistentVolumeClaimFileSystemResizePending)
	if pending == nil || now.Sub(pending.LastTransitionTime.Time) < fileSystemGrace {
		return nil
	}
	return pending
}

func (v *Volume) condition(kind corev1.PersistentVolumeClaimConditionType) *corev1.PersistentVolumeClaimCondition {
	if v.Claim == nil {
		return nil
	}
	for i := range v.Claim.Status.Conditions {
		if found := &v.Claim.Status.Conditions[i]; found.Type == kind && found.Status == corev1.ConditionTrue {
			return found
		}
	}
	return nil
}

// known says whether the claim is as it was seen.
func (v *Volume) known() bool { return !v.Unobserved && v.Failed == nil }

// gone says whether there is no claim, or none that stays.
func (v *Volume) gone() bool { return v.Claim == nil || v.Claim.DeletionTimestamp != nil }

// asks says whether the claim asks for what the spec says, or for more.
func (v *Volume) asks() bool {
	return v.Claim != nil && v.Claim.Spec.Resources.Requests.Storage().Cmp(v.Wanted) >= 0
}

// has says whether the volume has what the spec says, or more.
func (v *Volume) has() bool {
	return v.known() && !v.gone() && v.Claim.Status.Capacity.Storage().Cmp(v.Wanted) >= 0
}

// small says whether there is a volume whose claim asks for less than the spec
// says. A claim without a volume cannot ask for more.
func (v *Volume) small() bool {
	return v.known() && !v.gone() && v.Claim.Status.Phase == corev1.ClaimBound && !v.asks() && !v.has()
}

// barrier is why a claim may not ask for more.
type barrier string

const (
	notBarred    barrier = ""
	classForbids barrier = "the class forbids it"
	classGone    barrier = "there is no such class"
	noClass      barrier = "it has no class"
)

// barrier is what keeps a claim from asking for more. Where the class could not be
// read, it is tried: the cluster refuses it as well.
func (v *Volume) barrier() barrier {
	switch {
	case v.class() == "":
		return noClass
	case apierrors.IsNotFound(v.ClassFailed):
		return classGone
	case v.Class != nil && (v.Class.AllowVolumeExpansion == nil || !*v.Class.AllowVolumeExpansion):
		return classForbids
	default:
		return notBarred
	}
}

// class is the name of the claim's storage class.
func (v *Volume) class() string {
	if v.Claim.Spec.StorageClassName == nil {
		return ""
	}
	return *v.Claim.Spec.StorageClassName
}

// trouble is why the volume does not grow, in the words of the cluster and of the
// driver; empty when nothing is known to keep it.
func (v *Volume) trouble() string {
	switch {
	case !v.known() || v.gone() || v.has():
		return ""
	case v.Refused != nil:
		return "the claim " + v.name() + " cannot be made to ask for more: " + wording.Quote(v.Refused.Error())
	}
	for _, kind := range []corev1.PersistentVolumeClaimConditionType{
		corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError,
	} {
		if failed := v.condition(kind); failed != nil {
			return "the claim " + v.name() + " does not grow: " + wording.Quote(cmp.Or(failed.Message, failed.Reason))
		}
	}
	switch state := v.Claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]; state {
	case corev1.PersistentVolumeClaimControllerResizeInfeasible, corev1.PersistentVolumeClaimNodeResizeInfeasible:
		return "the claim " + v.name() + " does not grow: its driver says " + string(state)
	default:
		return ""
	}
}

// name names the claim as messages do.
func (v *Volume) name() string {
	name := resources.ClaimName(v.Validator.Name)
	if v.Validator.Cluster != "" {
		name += " in the cluster " + v.Validator.Cluster
	}
	return name
}
