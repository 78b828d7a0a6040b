// SPDX-License-Identifier: Apache-2.0

package policy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/archives"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/topology"
)

// StatesArchived says whether every shard of a network with archives could come back
// from one of them, and whether they keep up.
func StatesArchived(observation *observed.Network) metav1.Condition {
	var seen []archives.Archive
	for i := range observation.Nodes {
		if node := &observation.Nodes[i]; node.Validator.Role == topology.RoleArchive {
			seen = append(seen, archives.Archive{Name: node.Validator.Name, Status: node.Status})
		}
	}
	said := func(status metav1.ConditionStatus, reason, words string) metav1.Condition {
		return condition.New(v1alpha1.ConditionStatesArchived, status, reason, words)
	}
	switch standing, words := archives.Stand(observation.Network.Spec.Node.Storage, observation.Best(), seen); standing {
	case archives.Current:
		return said(metav1.ConditionTrue, v1alpha1.ReasonArchivesCurrent, words)
	case archives.Late:
		return said(metav1.ConditionFalse, v1alpha1.ReasonArchivesBehind, words)
	case archives.Unusable:
		return said(metav1.ConditionFalse, v1alpha1.ReasonStatesNotArchived, words)
	default:
		return said(metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer, words)
	}
}
