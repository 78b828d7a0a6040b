// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
)

// GenesisCreated is a network whose genesis document and keys exist.
func GenesisCreated(validators int) metav1.Condition {
	return condition.New(v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated,
		fmt.Sprintf("the genesis document and the keys of %d validators exist", validators))
}

// GenesisPending is a network whose keys do not all exist yet.
func GenesisPending() metav1.Condition {
	return condition.New(v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisPending,
		"the validators' keys are being made")
}

// GenesisWaits is a network some of whose keys are to be made in clusters that
// cannot be used now.
func GenesisWaits(lost []LostCluster) metav1.Condition {
	return condition.New(v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisPending,
		"the genesis document names the validators of "+namesOf(lost)+", whose keys cannot be made now: "+
			"see the condition ClustersAvailable")
}

// GenesisRestored is a network of which disks are put back from a backup that its ConfigMap
// of the genesis document tells of.
func GenesisRestored(configMap string) metav1.Condition {
	return condition.New(v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisPending, fmt.Sprintf(
		"a backup is being put back, says the ConfigMap %s, and no node is made before all of it is there: "+
			"if nobody does that any more, delete this network, and restore it again", configMap))
}

// GenesisMismatch is a genesis document, in a ConfigMap, of another network
// than the spec's; difference says how.
func GenesisMismatch(configMap, difference string) metav1.Condition {
	return condition.New(v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisMismatch, fmt.Sprintf(
		"the ConfigMap %s is not of this network: %s. It was kept for an earlier network of this name: "+
			"delete it with that network's key Secrets and volume claims, or choose another name", configMap, difference))
}

// GenesisMissing is a ConfigMap that is gone, with the genesis document that
// validators were made from.
func GenesisMissing(configMap string) metav1.Condition {
	return condition.New(v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisMissing, fmt.Sprintf(
		"the ConfigMap %s is gone, but validators were made from its genesis document: "+
			"restore it from a backup, or delete the network and make it again", configMap))
}

// KeyMissing is a Secret that is gone, with a key that the genesis document
// names.
func KeyMissing(secret string) metav1.Condition {
	return condition.New(v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonKeyMissing, fmt.Sprintf(
		"the Secret %s is gone, but the genesis document names its key: "+
			"restore it from a backup, or delete the network and make it again", secret))
}

// KeyInvalid is a Secret that holds no key; cause says why.
func KeyInvalid(secret string, cause error) metav1.Condition {
	return condition.New(v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonKeyInvalid, fmt.Sprintf(
		"the Secret %s holds no key (%v): restore it from a backup", secret, cause))
}
