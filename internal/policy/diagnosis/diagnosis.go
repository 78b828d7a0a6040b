// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

// Diagnosis is why a node does not take part, and what to do about it.
type Diagnosis struct {
	Reason  string
	Message string
}

// severity orders reasons: what nobody but a person can mend comes first.
var severity = []string{
	v1alpha1.ReasonStatesContradict,
	v1alpha1.ReasonSysctlForbidden,
	v1alpha1.ReasonPodForbidden,
	v1alpha1.ReasonImageUnavailable,
	v1alpha1.ReasonDiskFull,
	v1alpha1.ReasonOutOfMemory,
	v1alpha1.ReasonCrashing,
	v1alpha1.ReasonMachineNotReady,
	v1alpha1.ReasonVolumeLost,
	v1alpha1.ReasonVolumeUnreachable,
	v1alpha1.ReasonUnschedulable,
	v1alpha1.ReasonVolumePending,
	v1alpha1.ReasonStuck,
	v1alpha1.ReasonMachineGone,
	v1alpha1.ReasonNodesMissing,
	v1alpha1.ReasonNodesNotReady,
}

// Of says why a node that is not ready is not.
func Of(network *v1alpha1.ShardNetwork, node *observed.Node) Diagnosis {
	if node.Unobserved {
		return notReady(node)
	}
	for _, examine := range []func(*v1alpha1.ShardNetwork, *observed.Node) *Diagnosis{
		forbiddenSysctl,
		evicted,
		noPod,
		lostMachine,
		leaving,
		lostDisk,
		unschedulable,
		unavailableImage,
		ended,
		stuck,
	} {
		if found := examine(network, node); found != nil {
			return *found
		}
	}
	return notReady(node)
}

func leaving(_ *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	if node.Pod.DeletionTimestamp == nil {
		return nil
	}
	return &Diagnosis{v1alpha1.ReasonNodesMissing, node.Validator.Name + " is being replaced"}
}

func notReady(node *observed.Node) Diagnosis {
	name := node.Validator.Name
	switch {
	case len(node.NotReady) > 0:
		return Diagnosis{v1alpha1.ReasonNodesNotReady, name + " does not take part: " + strings.Join(node.NotReady, "; ")}
	case node.Pod != nil && node.Pod.Status.Phase == corev1.PodPending:
		return Diagnosis{v1alpha1.ReasonNodesMissing, name + " is starting"}
	default:
		return Diagnosis{v1alpha1.ReasonNodesNotReady, name + " does not take part yet"}
	}
}
