// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// lostMachine is a node whose machine is gone, or does not keep its pods going.
func lostMachine(_ *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	name, machine := node.Validator.Name, node.Machine
	switch {
	case machine == nil:
		return nil
	case machine.Gone:
		return &Diagnosis{v1alpha1.ReasonMachineGone, fmt.Sprintf(
			"the machine %s of %s is gone, and the cluster is about to make its pod anew", machine.Name, name)}
	case machine.NotReady != nil:
		return &Diagnosis{v1alpha1.ReasonMachineNotReady, fmt.Sprintf(
			"the machine %s of %s is not ready since %s: %s. Bring it back, or, once it is switched off for good, kubectl delete node %s",
			machine.Name, name, machine.NotReady.LastTransitionTime.UTC().Format(time.RFC3339),
			wording.Quote(machine.NotReady.Message), machine.Name)}
	default:
		return nil
	}
}
