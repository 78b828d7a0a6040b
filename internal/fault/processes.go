// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// PartInPod is the part of nodes in pods that a fault is of, which the nodes keep
// themselves: nobody beside them could keep a process away for a time. It is empty for a
// kill after which the cluster starts the validator at once.
func PartInPod(spec *v1alpha1.FaultSpec) Part {
	switch {
	case spec.Action == v1alpha1.FaultActionKill && !isGone(spec):
		return ""
	case PartOf(spec.Action) == "":
		return Process
	default:
		return PartOf(spec.Action)
	}
}

// OrdersInPods say which nodes in pods are told of a fault, in the order of the plan.
func OrdersInPods(spec *v1alpha1.FaultSpec, scope []topology.Validator, plan *topology.Plan) ([]Order, error) {
	if PartInPod(spec) != Process {
		return Orders(spec, scope, plan)
	}
	orders := make([]Order, 0, len(scope))
	for i := range scope {
		orders = append(orders, Order{Node: scope[i].Name, Process: newProcessFault(spec)})
	}
	return orders, nil
}

func newProcessFault(spec *v1alpha1.FaultSpec) *chain.ProcessFault {
	fault := &chain.ProcessFault{Condition: chain.ProcessGone, DurationMilliseconds: durationMs(spec)}
	switch program := ProgramOf(spec); {
	case spec.Action == v1alpha1.FaultActionPause:
		fault.Condition = chain.ProcessPaused
	case program != nil:
		fault.Condition, fault.Program, fault.Arguments = chain.ProcessReplaced, program.Path, program.Arguments
	}
	return fault
}

// isGone says whether a killed validator is started again after the duration alone.
func isGone(spec *v1alpha1.FaultSpec) bool {
	return spec.Kill != nil && spec.Kill.Restart == v1alpha1.FaultRestartAfterDuration
}
