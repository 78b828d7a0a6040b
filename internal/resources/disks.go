// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// hostField is the name of a machine, as affinities know it.
const hostField = "metadata.name"

// spreadDisks puts a pod that has a disk made away from the machines that have disks of the
// network already, as affinity keeps nodes apart: its pod is gone when the node comes, and
// the disk may be of its machine alone.
func spreadDisks(network *v1alpha1.ShardNetwork, busy map[string]int) *corev1.Affinity {
	if network.Spec.Placement.Exclusivity != v1alpha1.Shared {
		return awayFromAll(busy)
	}
	most := 0
	for _, count := range busy {
		most = max(most, count)
	}
	var terms []corev1.PreferredSchedulingTerm
	// The more disks a machine has, the more of these it fails.
	for least := 1; least <= min(most, maxSpread); least++ {
		terms = append(terms, corev1.PreferredSchedulingTerm{Weight: 10, Preference: awayFrom(busy, least)})
	}
	if len(terms) == 0 {
		return nil
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms}}
}

// maxSpread is up to how many disks of a machine are told apart.
const maxSpread = 20

// awayFromAll keeps a pod from the machines that have a disk, and from those of nodes of
// all networks.
func awayFromAll(busy map[string]int) *corev1.Affinity {
	affinity := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{LabelName: Name}},
			NamespaceSelector: &metav1.LabelSelector{},
			TopologyKey:       corev1.LabelHostname,
		}},
	}}
	if len(busy) > 0 {
		affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{awayFrom(busy, 1)},
		}}
	}
	return affinity
}

// awayFrom are the machines that have fewer disks than so many. A field takes one value
// at a time.
func awayFrom(busy map[string]int, least int) corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for machine, count := range busy {
		if count >= least {
			term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{
				Key: hostField, Operator: corev1.NodeSelectorOpNotIn, Values: []string{machine},
			})
		}
	}
	slices.SortFunc(term.MatchFields, func(a, b corev1.NodeSelectorRequirement) int { return slices.Compare(a.Values, b.Values) })
	return term
}
