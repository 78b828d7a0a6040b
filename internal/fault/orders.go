// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// Part is the part of a node that has a fault which the node keeps itself.
type Part string

// The parts of a node that have such faults.
const (
	// Links are the links between it and its peers.
	Links Part = "links"
	// Disk is what it keeps its state on.
	Disk Part = "disk"
	// Clock is what it has the time from.
	Clock Part = "clock"
	// Process is its process. Nodes keep its faults themselves only in pods: on one
	// machine, they have a supervisor.
	Process Part = "process"
)

// PartOf is the part of nodes that a fault is of, which the nodes keep themselves;
// empty for a fault of their processes.
func PartOf(action v1alpha1.FaultAction) Part {
	switch action {
	case v1alpha1.FaultActionPartition, v1alpha1.FaultActionDelay, v1alpha1.FaultActionLoss:
		return Links
	case v1alpha1.FaultActionSlowDisk, v1alpha1.FaultActionFullDisk:
		return Disk
	case v1alpha1.FaultActionWrongClock:
		return Clock
	default:
		return ""
	}
}

// IsKeptByNodes says whether nodes keep a fault themselves once they are told of it.
func IsKeptByNodes(action v1alpha1.FaultAction) bool { return PartOf(action) != "" }

// isTold says whether a validator that has the fault tells so. One with a full disk ends.
func isTold(action v1alpha1.FaultAction) bool {
	return IsKeptByNodes(action) && action != v1alpha1.FaultActionFullDisk
}

// IsByzantine says whether what validators tell of the chain counts for nothing, if they
// have a fault of this action.
func IsByzantine(action v1alpha1.FaultAction) bool { return action == v1alpha1.FaultActionByzantine }

// Shows says whether the status of a node, which told another one before the fault, tells
// of a fault of this action.
func Shows(action v1alpha1.FaultAction, before, status *chain.Status) bool {
	if IsByzantine(action) {
		// A build that is not to be taken for another one has another version.
		return before.Version != status.Version
	}
	switch PartOf(action) {
	case Links:
		return status.FaultyLinks > 0
	case Disk:
		return status.DiskFault != nil
	case Clock:
		return status.ClockOffsetMilliseconds != 0
	default:
		return false
	}
}

// Order is what one node is told: the fault of one of its parts.
type Order struct {
	// Node is its name.
	Node string `json:"node"`
	// Links is the fault of its links.
	Links *chain.LinkFault `json:"links,omitempty"`
	// Disk is the fault of its disk.
	Disk *chain.DiskFault `json:"disk,omitempty"`
	// Clock is the fault of its clock.
	Clock *chain.ClockFault `json:"clock,omitempty"`
	// Process is the fault of its process.
	Process *chain.ProcessFault `json:"process,omitempty"`
}

// Part is the part of the node that has the fault.
func (o *Order) Part() Part {
	switch {
	case o.Links != nil:
		return Links
	case o.Disk != nil:
		return Disk
	case o.Clock != nil:
		return Clock
	default:
		return Process
	}
}

// Orders say which nodes are told of a fault, in the order of the plan; there are none
// for a fault of processes.
func Orders(spec *v1alpha1.FaultSpec, scope []topology.Validator, plan *topology.Plan) ([]Order, error) {
	switch PartOf(spec.Action) {
	case Links:
		return linkOrders(spec, scope, plan)
	case Disk:
		return diskOrders(spec, scope), nil
	case Clock:
		return clockOrders(spec, scope), nil
	default:
		return nil, nil
	}
}

func durationMs(spec *v1alpha1.FaultSpec) int64 { return int64(spec.DurationSeconds) * 1000 }
