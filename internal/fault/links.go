// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// linkOrders say which nodes are told of a fault of links.
//
// Of two nodes, the one that dialled holds up what they exchange, and nobody else
// knows which one that is. So both ends of every link are told. It is held up once.
func linkOrders(spec *v1alpha1.FaultSpec, scope []topology.Validator, plan *topology.Plan) ([]Order, error) {
	between, err := faultyLinks(spec, scope, plan)
	if err != nil {
		return nil, err
	}
	var orders []Order
	for i := range plan.Nodes {
		name := plan.Nodes[i].Name
		var peers []string
		for j := range plan.Nodes {
			if peer := plan.Nodes[j].Name; peer != name && between(name, peer) {
				peers = append(peers, peer)
			}
		}
		if len(peers) > 0 {
			orders = append(orders, Order{Node: name, Links: newLinkFault(spec, peers)})
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

func newLinkFault(spec *v1alpha1.FaultSpec, peers []string) *chain.LinkFault {
	fault := &chain.LinkFault{
		Peers: peers, Condition: chain.LinkWorse, DurationMilliseconds: durationMs(spec),
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
