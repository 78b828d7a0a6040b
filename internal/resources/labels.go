// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"
	"strconv"

	"github.com/shardyard/shardyard/internal/topology"
)

// Labels of a network's objects.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelNetwork   = "shardyard.dev/network"
	LabelRegion    = "shardyard.dev/region"
	LabelShard     = "shardyard.dev/shard"
	LabelSlot      = "shardyard.dev/slot"
	LabelRole      = "shardyard.dev/role"
	LabelValidator = "shardyard.dev/validator"

	// LabelNetworkUID, on an object of a member cluster, says what an owner
	// reference says at home: which very network it goes with.
	LabelNetworkUID = "shardyard.dev/network-uid"

	// LabelEviction, on a validator's pod, lets whoever drains its machine evict
	// it when it is EvictionAllowed: the disruption budget holds all others.
	LabelEviction = "shardyard.dev/eviction"

	// LabelNodeAccess, on a namespace, lets its pods reach the HTTP API of
	// nodes when it is NodeAccessAllowed.
	LabelNodeAccess = "shardyard.dev/node-access"
	// LabelPodSecurity, on a namespace whose Pod Security level is privileged, has the
	// policy of the chart narrow it to what networks need when it is
	// PodSecurityNetworks.
	LabelPodSecurity = "shardyard.dev/pod-security"
	// LabelRegionOfMachine is the region that a machine is in.
	LabelRegionOfMachine = "topology.kubernetes.io/region"
	// LabelMachineType is the type of a machine.
	LabelMachineType = "node.kubernetes.io/instance-type"
)

// Values of the labels.
const (
	Name              = "shardnode"
	ManagedBy         = "shardyard"
	NodeAccessAllowed = "allowed"
	EvictionAllowed   = "allowed"

	PodSecurityNetworks = "networks"
)

// NetworkLabels are the labels of every object of a network.
func NetworkLabels(network string) map[string]string {
	return map[string]string{
		LabelName:      Name,
		LabelInstance:  network,
		LabelManagedBy: ManagedBy,
		LabelNetwork:   network,
	}
}

// networkSelector selects the pods of a network.
func networkSelector(network string) map[string]string {
	return map[string]string{LabelName: Name, LabelNetwork: network}
}

// shardSelector selects the pods of a shard's producers.
func shardSelector(network string, shard int) map[string]string {
	selector := networkSelector(network)
	selector[LabelShard] = strconv.Itoa(shard)
	return selector
}

// roleSelector selects the pods of the nodes with a role.
func roleSelector(network string, role topology.Role) map[string]string {
	selector := networkSelector(network)
	selector[LabelRole] = string(role)
	return selector
}

// peerSelector selects the pods that do what a validator does, which had better
// not go with its machine.
func peerSelector(network string, validator topology.Validator) map[string]string {
	if validator.Seat == nil {
		return roleSelector(network, validator.Role)
	}
	return shardSelector(network, validator.Shard)
}

// validatorSelector selects the pod of one validator.
func validatorSelector(network string, validator topology.Validator) map[string]string {
	selector := networkSelector(network)
	selector[LabelValidator] = validator.Name
	return selector
}

// ValidatorLabels are the labels of the objects of one validator.
func ValidatorLabels(network string, validator topology.Validator) map[string]string {
	labels := NetworkLabels(network)
	maps.Copy(labels, validatorSelector(network, validator))
	labels[LabelRegion] = validator.Region
	labels[LabelRole] = string(validator.Role)
	if validator.Seat != nil {
		labels[LabelShard] = strconv.Itoa(validator.Shard)
		labels[LabelSlot] = strconv.Itoa(validator.Slot)
	}
	return labels
}
