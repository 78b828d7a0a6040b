// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// LostCluster is a member cluster that cannot be used now.
type LostCluster struct {
	// Name is that of its Secret.
	Name string
	// Nodes is how many nodes of the network it holds.
	Nodes int
	// Reason is one of the condition ClustersAvailable.
	Reason string
	Cause  error
}

// lostReasons are the reasons of the condition ClustersAvailable that are not
// True: what nobody but a person can mend comes first.
var lostReasons = []string{
	v1alpha1.ReasonClusterSecretMissing,
	v1alpha1.ReasonClusterSecretInvalid,
	v1alpha1.ReasonClusterReplaced,
	v1alpha1.ReasonClusterUnavailable,
}

// ClustersAvailable says whether every member cluster of a network can be used,
// and if not, whether the whole network waits for those that cannot.
func ClustersAvailable(members int, lost []LostCluster, networkWaits bool) metav1.Condition {
	switch {
	case members == 0:
		return condition.New(v1alpha1.ConditionClustersAvailable, metav1.ConditionTrue, v1alpha1.ReasonOwnCluster,
			"the network is in the operator's own cluster")
	case len(lost) == 0:
		return condition.New(v1alpha1.ConditionClustersAvailable, metav1.ConditionTrue, v1alpha1.ReasonAllClustersAvailable,
			"all that it spans can be used: the operator's own and "+wording.Count(members, "member cluster"))
	}
	worst := slices.MinFunc(lost, func(a, b LostCluster) int {
		return slices.Index(lostReasons, a.Reason) - slices.Index(lostReasons, b.Reason)
	})
	message := worst.words() + ". " + worst.consequence(networkWaits)
	if len(lost) > 1 {
		message += fmt.Sprintf(" (and so for %d more of %d clusters)", len(lost)-1, members)
	}
	return condition.New(v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, worst.Reason, message)
}

// consequence is what it means for the network.
func (l *LostCluster) consequence(networkWaits bool) string {
	if networkWaits {
		return "Nothing of the network is made or changed until it can be used"
	}
	return fmt.Sprintf("Nothing is changed for its %s; the rest of the network goes on", wording.Count(l.Nodes, "node"))
}

// words say why a cluster cannot be used, and what to do about it.
func (l *LostCluster) words() string {
	switch l.Reason {
	case v1alpha1.ReasonClusterSecretMissing:
		return fmt.Sprintf("there is no Secret %s with the kubeconfig of that cluster: make it with shardyard join", l.Name)
	case v1alpha1.ReasonClusterSecretInvalid:
		return fmt.Sprintf("the Secret %s does not say how to reach the cluster: %s. Make it again with shardyard join",
			l.Name, wording.Quote(l.Cause.Error()))
	case v1alpha1.ReasonClusterReplaced:
		return fmt.Sprintf("the Secret %s names another cluster than the one that holds %s of the network: %s. "+
			"Have it name that one again with shardyard join", l.Name, wording.Count(l.Nodes, "node"), wording.Quote(l.Cause.Error()))
	default:
		return fmt.Sprintf("the cluster %s cannot be used now: %s", l.Name, wording.Quote(l.Cause.Error()))
	}
}

// ObjectsRemain is a network that is being deleted and that clusters still have
// something of: left are numbers of objects by cluster and kind; lost are the
// clusters of which it is not known; failed is what else went wrong.
func ObjectsRemain(left map[string]map[string]int, lost []LostCluster, failed error) metav1.Condition {
	var words []string
	for _, cluster := range slices.Sorted(maps.Keys(left)) {
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(left[cluster])) {
			kinds = append(kinds, wording.Count(left[cluster][kind], kind))
		}
		words = append(words, fmt.Sprintf("the cluster %s still has %s", cluster, strings.Join(kinds, ", ")))
	}
	reason := v1alpha1.ReasonObjectsRemain
	for i := range lost {
		reason = lost[i].Reason
		words = append(words, lost[i].words()+". It may still have all that the network had there; if it is gone for good, "+
			"take "+v1alpha1.FinalizerClusters+" out of metadata.finalizers of the network")
	}
	if failed != nil {
		words = append(words, wording.Quote(failed.Error()))
	}
	return condition.New(v1alpha1.ConditionRemoved, metav1.ConditionFalse, reason, strings.Join(words, "; "))
}

// Deleting sums up a network that is being deleted.
func Deleting(conditions []metav1.Condition) metav1.Condition {
	message := "the network is being deleted"
	for i := range conditions {
		if conditions[i].Type == v1alpha1.ConditionRemoved {
			message += ": " + conditions[i].Message
		}
	}
	return condition.New(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDeleting, message)
}

// namesOf lists clusters.
func namesOf(lost []LostCluster) string {
	names := make([]string, 0, len(lost))
	for i := range lost {
		names = append(names, lost[i].Name)
	}
	return wording.List(names)
}
