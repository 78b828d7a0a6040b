// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// LostDisk is a node's disk that is gone for good.
type LostDisk struct {
	// Claim is the claim that the disk was of.
	Claim types.UID
	// Why says how that is known.
	Why string
	// Since is since when it was gone at every look, while the chain went on and
	// nothing else, and Height the highest block that any node knew of then.
	Since  time.Time
	Height uint64
	// Seen is when that was last looked at.
	Seen time.Time
	// Next says what becomes of the node; empty while nobody has decided.
	Next string
}

// Refuse has a disk stay for now whose claim cannot be deleted: a cluster that was
// joined by an earlier version may not let the operator.
func (d *LostDisk) Refuse(cluster string, cause error) {
	advice := "Give the operator the role of its chart"
	if cluster != "" {
		advice = "Join the cluster " + cluster + " again with shardyard join"
	}
	d.Next = fmt.Sprintf("it gets no new one, because its claim cannot be deleted: %s. %s", wording.Quote(cause.Error()), advice)
}

// LostClaim is the disk of a claim whose volume its cluster says that it does not
// have; nil of any other.
func LostClaim(claim *corev1.PersistentVolumeClaim) *LostDisk {
	if claim.Status.Phase != corev1.ClaimLost {
		return nil
	}
	return &LostDisk{Claim: claim.UID, Why: fmt.Sprintf(
		"its claim %s names the PersistentVolume %s, which the cluster does not have", claim.Name, claim.Spec.VolumeName)}
}

// LostWithMachines is the disk of a claim on a volume that is part of machines which
// its cluster does not have any more.
func LostWithMachines(claim *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) *LostDisk {
	return &LostDisk{Claim: claim.UID, Why: fmt.Sprintf(
		"its claim %s is bound to the PersistentVolume %s, which is only on the machine %s, and the cluster has no such machine",
		claim.Name, volume.Name, wording.List(MachinesOf(claim, volume)))}
}

// MachinesOf are the only machines that a claim's volume can be used on; none when it
// is not known to be of certain machines. A zone or a region is none: what is there
// may be used from machines that are still to come. The annotation about the machine
// that was chosen for a claim says nothing: the disk of a zone has it as well.
func MachinesOf(claim *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) []string {
	affinity, owner := volume.Spec.NodeAffinity, volume.Spec.ClaimRef
	if claim.Status.Phase != corev1.ClaimBound || owner == nil || owner.UID != claim.UID || affinity == nil || affinity.Required == nil {
		return nil
	}
	var machines []string
	// Each term is enough by itself.
	for i := range affinity.Required.NodeSelectorTerms {
		named := machinesOfTerm(&affinity.Required.NodeSelectorTerms[i])
		if len(named) == 0 {
			return nil
		}
		machines = append(machines, named...)
	}
	slices.Sort(machines)
	return slices.Compact(machines)
}

// machinesOfTerm are the machines that a term names. Whatever else it asks for, no
// other one will do.
func machinesOfTerm(term *corev1.NodeSelectorTerm) []string {
	for _, requirement := range term.MatchFields {
		if requirement.Key == metav1.ObjectNameField && requirement.Operator == corev1.NodeSelectorOpIn {
			return requirement.Values
		}
	}
	for _, requirement := range term.MatchExpressions {
		if requirement.Key == corev1.LabelHostname && requirement.Operator == corev1.NodeSelectorOpIn {
			return requirement.Values
		}
	}
	return nil
}

// Unscheduled says whether a node has a pod that stays, is on no machine, and that the
// scheduler has found none for.
func (n *Node) Unscheduled() bool {
	return !n.Unobserved && Unscheduled(n.Pod)
}

// Unscheduled says so of a pod.
func Unscheduled(pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil || pod.Spec.NodeName != "" {
		return false
	}
	scheduled := pods.Condition(pod, corev1.PodScheduled)
	return scheduled != nil && scheduled.Status == corev1.ConditionFalse
}
