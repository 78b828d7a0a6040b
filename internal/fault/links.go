// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// IsOfLinks says whether a fault is of the links between nodes, which the nodes keep
// themselves, and not of their processes.
func IsOfLinks(action v1alpha1.FaultAction) bool {
	switch action {
	case v1alpha1.FaultActionPartition, v1alpha1.FaultActionDelay, v1alpha1.FaultActionLoss:
		return true
	default:
		return false
	}
}

// LinkOrder is what one node is told.
type LinkOrder struct {
	// Node is its name.
	Node string `json:"node"`
	// Fault is that of its links.
	Fault chain.LinkFault `json:"fault"`
}

// LinkOrders say which nodes are told of a fault of links, in the order of the plan;
// there are none for a fault of processes.
//
// Of two nodes, the one that dialled holds up what they exchange, and nobody else
// knows which one that is. So both ends of every link are told. It is held up once.
func LinkOrders(spec *v1alpha1.FaultSpec, scope []topology.Validator, plan *topology.Plan) ([]LinkOrder, error) {
	if !IsOfLinks(spec.Action) {
		return nil, nil
	}
	between, err := faultyLinks(spec, scope, plan)
	if err != nil {
		return nil, err
	}
	var orders []LinkOrder
	for i := range plan.Nodes {
		name := plan.Nodes[i].Name
		var peers []string
		for j := range plan.Nodes {
			if peer := plan.Nodes[j].Name; peer != name && between(name, peer) {
				peers = append(peers, peer)
			}
		}
		if len(peers) > 0 {
			orders = append(orders, LinkOrder{Node: name, Fault: newLinkFault(spec, peers)})
		}
	}
	return orders, nil
}

// faultyLinks says of two nodes whether the link between them has the fault.
func faultyLinks(spec *v1alpha1.FaultSpec, scope []topology.Validator, plan *topology.Plan) (func(a, b string) bool, error) {
	inScope := names(scope)
	if spec.Action != v1alpha1.FaultActionPartition {
		// What validators of the fault send each other, too.
		return func(a, b string) bool { return inScope[a] || inScope[b] }, nil
	}
	if spec.Partition == nil {
		return func(a, b string) bool { return inScope[a] != inScope[b] }, nil
	}
	others, err := choose("spec.partition.from", &spec.Partition.From, plan)
	if err != nil {
		return nil, err
	}
	for i := range others {
		if inScope[others[i].Name] {
			return nil, fmt.Errorf("spec.partition.from: validator %s is on both sides", others[i].Name)
		}
	}
	from := names(others)
	return func(a, b string) bool { return inScope[a] && from[b] || inScope[b] && from[a] }, nil
}

func names(validators []topology.Validator) map[string]bool {
	names := make(map[string]bool, len(validators))
	for i := range validators {
		names[validators[i].Name] = true
	}
	return names
}

func newLinkFault(spec *v1alpha1.FaultSpec, peers []string) chain.LinkFault {
	fault := chain.LinkFault{
		Peers: peers, Condition: chain.LinkWorse, DurationMilliseconds: int64(spec.DurationSeconds) * 1000,
	}
	switch spec.Action {
	case v1alpha1.FaultActionDelay:
		fault.DelayMilliseconds = spec.Delay.Milliseconds
	case v1alpha1.FaultActionLoss:
		fault.LossBasisPoints = spec.Loss.BasisPoints
	default:
		fault.Condition = chain.LinkCut
	}
	return fault
}
