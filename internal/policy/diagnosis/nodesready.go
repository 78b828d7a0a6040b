// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// NodesReady says whether every node of the plan takes part, and if not, what
// keeps the one whose trouble needs a person most.
func NodesReady(observation *observed.Network) metav1.Condition {
	total, ready := len(observation.Nodes), observation.ReadyNodes()
	if ready == total {
		return condition.New(v1alpha1.ConditionNodesReady, metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady,
			fmt.Sprintf("all %d nodes take part in the chain", total))
	}

	worst, same, unknown := worstDiagnosis(observation)
	if same == 0 {
		return condition.New(v1alpha1.ConditionNodesReady, metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable, fmt.Sprintf(
			"%d of %d nodes take part; %s in clusters that cannot be used now: see the condition ClustersAvailable",
			ready, total, unknownNodes(unknown)))
	}
	message := fmt.Sprintf("%d of %d nodes take part; %s", ready, total, worst.Message)
	if same > 1 {
		message += fmt.Sprintf(" (and %d more like it)", same-1)
	}
	if unknown > 0 {
		message += "; " + unknownNodes(unknown)
	}
	return condition.New(v1alpha1.ConditionNodesReady, metav1.ConditionFalse, worst.Reason, message)
}

// unknownNodes are those that nobody tells anything of, nor they themselves.
func unknownNodes(number int) string {
	return fmt.Sprintf("nothing is known of %s", wording.Count(number, "node"))
}

// worstDiagnosis is the first of the worst, how many nodes have the same reason,
// and of how many nothing is known.
func worstDiagnosis(observation *observed.Network) (worst Diagnosis, same, unknown int) {
	rank := len(severity)
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if node.Ready() {
			continue
		}
		if node.Unobserved && node.Status == nil {
			unknown++
			continue
		}
		found := Of(observation.Network, node)
		switch at := slices.Index(severity, found.Reason); {
		case at < rank:
			rank, worst, same = at, found, 1
		case at == rank:
			same++
		}
	}
	return worst, same, unknown
}
