// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"crypto/ed25519"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Inputs are what the objects of a network in one cluster depend on besides its
// spec.
type Inputs struct {
	// Cluster is the member cluster that they are for; empty is the operator's
	// own.
	Cluster string
	// PublicKeys are those of all validators, by name.
	PublicKeys map[string]ed25519.PublicKey
	// AdminToken is the token of the nodes' admin API in this cluster.
	AdminToken string
	// Before is the network as all nodes ran it last, which some may still do; nil
	// when they never did.
	Before *v1alpha1.ShardNetwork
	// DefaultNodeImage is the node image of networks that name none.
	DefaultNodeImage string
	// ClusterDomains are the DNS domains of all clusters of the plan, by their
	// names.
	ClusterDomains map[string]string
	// OperatorNamespace is where the operator's pods are in its own cluster;
	// empty when it does not run there.
	OperatorNamespace string
	// OperatorAddress is the IP address by which other clusters know the
	// operator; empty when it is not known.
	OperatorAddress string
}

// Build makes the objects of a network in one cluster. What is made once and
// never changed is not among them: keys, the admin token and the genesis
// document.
func Build(network *v1alpha1.ShardNetwork, plan *topology.Plan, inputs Inputs) ([]Object, error) {
	validators := plan.In(inputs.Cluster)
	if len(validators) == 0 {
		return nil, nil
	}
	peers, configs, err := newDocuments(network, plan, validators, inputs)
	if err != nil {
		return nil, err
	}

	objects := []Object{
		newP2PService(network, plan.Ports),
		newRPCService(network, plan.Ports),
		newNetworkPolicy(network, plan, inputs),
		newDisruptionBudget(network),
		peers.object,
	}
	for _, class := range NewStorageClasses(network) {
		objects = append(objects, class)
	}
	for _, config := range configs {
		objects = append(objects, config.object)
	}
	for i, validator := range validators {
		objects = append(objects, newStatefulSet(network, plan.Ports, validator, configs[i], peers, inputs))
	}
	if inputs.Cluster != "" {
		for _, object := range objects {
			Export(network, object)
		}
	}
	return objects, nil
}
