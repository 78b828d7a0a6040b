// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
)

// stalling are the reasons of conditions that are False until somebody changes
// something. What may pass by itself is not among them: a cluster that does not
// answer, a machine that is still to come, an image that is pulled again.
var stalling = map[string][]string{
	v1alpha1.ConditionWithinBudget: {
		v1alpha1.ReasonBudgetExceeded,
		v1alpha1.ReasonCostUnknown,
	},
	v1alpha1.ConditionClustersAvailable: {
		v1alpha1.ReasonClusterSecretMissing,
		v1alpha1.ReasonClusterSecretInvalid,
		v1alpha1.ReasonClusterReplaced,
	},
	v1alpha1.ConditionGenesisReady: {
		v1alpha1.ReasonGenesisMismatch,
		v1alpha1.ReasonGenesisMissing,
		v1alpha1.ReasonKeyMissing,
		v1alpha1.ReasonKeyInvalid,
	},
	v1alpha1.ConditionImageCompatible: {
		v1alpha1.ReasonFormatsDiffer,
	},
	v1alpha1.ConditionApplied: {
		v1alpha1.ReasonNameTaken,
	},
	v1alpha1.ConditionNodesReady: {
		v1alpha1.ReasonSysctlForbidden,
		v1alpha1.ReasonPodForbidden,
	},
	v1alpha1.ConditionProducing: {
		v1alpha1.ReasonWrongGenesis,
		v1alpha1.ReasonSupplyNotConserved,
	},
	v1alpha1.ConditionUpdated: {
		v1alpha1.ReasonOnlyCopy,
		v1alpha1.ReasonRolledBack,
	},
}

// Stalled finds what keeps a network from getting ready until somebody changes
// something; nil when nothing does. A network whose lifetime has ended is as it
// should be. While the clusters have not taken up what was changed last, what
// they say of nodes may be about what was before.
func Stalled(conditions []metav1.Condition, settling bool) *metav1.Condition {
	if meta.IsStatusConditionFalse(conditions, v1alpha1.ConditionWithinLifetime) {
		return nil
	}
	for _, kind := range decisive {
		if kind == v1alpha1.ConditionNodesReady && settling {
			continue
		}
		if cause := meta.FindStatusCondition(conditions, kind); cause != nil {
			if stalled := condition.Stalled(cause, stalling[cause.Type]...); stalled != nil {
				return stalled
			}
		}
	}
	return nil
}
