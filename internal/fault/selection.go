// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Select finds the validators that a fault is of, in the order of the plan.
func Select(wanted *v1alpha1.FaultValidators, plan *topology.Plan) ([]topology.Validator, error) {
	return choose("spec.validators", wanted, plan)
}

// choose finds validators that a field of a fault selects.
func choose(field string, wanted *v1alpha1.FaultValidators, plan *topology.Plan) ([]topology.Validator, error) {
	for _, name := range wanted.Names {
		if !slices.ContainsFunc(plan.Nodes, func(v topology.Validator) bool { return v.Name == name }) {
			return nil, fmt.Errorf("%s.names: network %s has no validator %s", field, plan.Network, name)
		}
	}
	var selected []topology.Validator
	for i := range plan.Nodes {
		if matches(wanted, &plan.Nodes[i]) {
			selected = append(selected, plan.Nodes[i])
		}
	}
	count := int(wanted.Count)
	switch {
	case len(selected) == 0:
		return nil, fmt.Errorf("%s: no validator of network %s is of all that is said", field, plan.Network)
	case len(selected) < count:
		return nil, fmt.Errorf("%s.count: %d validators of network %s are of all that is said, want %d",
			field, len(selected), plan.Network, count)
	case count > 0:
		selected = selected[:count]
	}
	if len(selected) == len(plan.Nodes) {
		return nil, fmt.Errorf("%s: selects all validators of the network, none would be left to tell of the chain", field)
	}
	return selected, nil
}

func matches(wanted *v1alpha1.FaultValidators, validator *topology.Validator) bool {
	role := map[v1alpha1.FaultRole]topology.Role{
		v1alpha1.FaultProducer: topology.RoleProducer, v1alpha1.FaultChunkValidator: topology.RoleChunkValidator,
	}
	switch {
	case len(wanted.Names) > 0 && !slices.Contains(wanted.Names, validator.Name):
	case wanted.Region != "" && wanted.Region != validator.Region:
	case wanted.Shard != nil && (validator.Seat == nil || validator.Shard != int(*wanted.Shard)):
	case wanted.Role != "" && role[wanted.Role] != validator.Role:
	default:
		return true
	}
	return false
}
