// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// NodesReady says whether every node of the plan takes part, and if not, what
// keeps the one whose trouble needs a person most.
func NodesReady(observation *Observation) metav1.Condition {
	total, ready := len(observation.Nodes), observation.ReadyNodes()
	if ready == total {
		return condition(v1alpha1.ConditionNodesReady, metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady,
			fmt.Sprintf("all %d nodes take part in the chain", total))
	}

	worst, same := worstDiagnosis(observation)
	message := fmt.Sprintf("%d of %d nodes take part; %s", ready, total, worst.message)
	if same > 1 {
		message += fmt.Sprintf(" (and %d more like it)", same-1)
	}
	return condition(v1alpha1.ConditionNodesReady, metav1.ConditionFalse, worst.reason, message)
}

// worstDiagnosis is the first of the worst, and how many nodes have the same
// reason.
func worstDiagnosis(observation *Observation) (worst diagnosis, same int) {
	rank := len(severity)
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if node.Ready() {
			continue
		}
		found := diagnose(observation.Network, node)
		switch at := slices.Index(severity, found.reason); {
		case at < rank:
			rank, worst, same = at, found, 1
		case at == rank:
			same++
		}
	}
	return worst, same
}
