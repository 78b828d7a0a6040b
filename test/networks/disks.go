// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/internal/policy/observed"
)

// Claim is that of the first node, in a phase.
func Claim(phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data-quickstart-s0-p0-0", UID: "claim"},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "pvc-5d0c4f1e"},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: phase},
	}
}

// VolumeOn is the volume of that claim, which any of some terms allows to be used.
func VolumeOn(terms ...corev1.NodeSelectorTerm) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-5d0c4f1e"},
		Spec: corev1.PersistentVolumeSpec{
			ClaimRef:     &corev1.ObjectReference{UID: "claim"},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}},
		},
	}
}

// Labelled are machines with one of some values of a label.
func Labelled(label string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: label, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// WithLabels are the machines that meet all of some requirements.
func WithLabels(requirements ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: requirements}
}

// Lose has nodes have lost their disks, as far as was seen just now.
func Lose(observation *observed.Network, nodes ...int) {
	Durable(observation)
	for _, i := range nodes {
		Unscheduled(&observation.Nodes[i], DiskElsewhere)
		observation.Nodes[i].LostDisk = observed.LostClaim(Claim(corev1.ClaimLost))
	}
}

// LostFor is what was seen of lost disks before, for so long.
func LostFor(observation *observed.Network, since time.Duration) map[string]observed.LostDisk {
	before := map[string]observed.LostDisk{}
	for i := range observation.Nodes {
		if disk := observation.Nodes[i].LostDisk; disk != nil {
			earlier := *disk
			earlier.Since, earlier.Height, earlier.Seen = Now.Add(-since), 100, Now.Add(-5*time.Second)
			before[observation.Nodes[i].Validator.Name] = earlier
		}
	}
	return before
}
