// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"crypto/ed25519"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Inputs are what the objects of a network depend on besides its spec.
type Inputs struct {
	// PublicKeys are those of all validators, by name.
	PublicKeys map[string]ed25519.PublicKey
	// AdminToken is the token of the nodes' admin API.
	AdminToken string
	// DefaultNodeImage is the node image of networks that name none.
	DefaultNodeImage string
	// ClusterDomain is the DNS domain of the cluster.
	ClusterDomain string
	// OperatorNamespace is where the operator's pods are; empty when it does
	// not run in the cluster.
	OperatorNamespace string
}

// Build makes the objects of a network. What is made once and never changed is not among them: keys, the admin token
// and the genesis document.
func Build(network *v1alpha1.ShardNetwork, plan *topology.Plan, inputs Inputs) ([]Object, error) {
	configs, err := newConfigs(network, plan, inputs.PublicKeys, inputs.ClusterDomain)
	if err != nil {
		return nil, err
	}

	objects := []Object{
		newP2PService(network, plan.Ports),
		newRPCService(network, plan.Ports),
		newNetworkPolicy(network, plan.Ports, inputs.OperatorNamespace),
	}
	if HasStorageClass(network) {
		objects = append(objects, NewStorageClass(network))
	}
	objects = append(objects, newDisruptionBudgets(network, plan)...)
	for _, config := range configs {
		objects = append(objects, config)
	}
	for i, validator := range plan.Validators {
		objects = append(objects, newStatefulSet(network, plan.Ports, validator, configs[i], inputs))
	}
	return objects, nil
}
