// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Plan is the layout of a network.
type Plan struct {
	// Network is the name of the network.
	Network string `json:"network"`
	// Shards is the number of shards.
	Shards int `json:"shards"`
	// Regions are the places of the plan, by name.
	Regions []Region `json:"regions"`
	// Links are what lies between the regions, by their names.
	Links []Link `json:"links,omitempty"`
	// Ports are what a validator listens on when it has an address of its own.
	Ports Ports `json:"ports"`
	// Nodes are all nodes: the producers of all shards, by shard and slot, then the
	// chunk validators, and then the rpc nodes and the archives, which validate
	// nothing.
	// Scripts read them by the name that they have there.
	Nodes []Validator `json:"validators"`
}

// Anywhere is the one region of a network that names none.
const Anywhere = "anywhere"

// KeepsToRegions says whether validators run only on machines of the region that
// they are planned for.
func KeepsToRegions(spec *v1alpha1.ShardNetworkSpec) bool {
	return spec.Placement.RegionAffinity == v1alpha1.RegionRequired && len(spec.Regions) > 0
}

// MachineType is the machine type that the validators of a region need, and the field
// that says so; empty when any will do.
func MachineType(placement *v1alpha1.PlacementSpec, region string) (machineType, field string) {
	for i := range placement.Regions {
		if own := &placement.Regions[i]; own.Name == region {
			return own.MachineType, fmt.Sprintf("spec.placement.regions[%d].machineType", i)
		}
	}
	return placement.MachineType, "spec.placement.machineType"
}

// Region is a place with a number of machines.
type Region struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Cluster is the member cluster that holds the region; empty is the
	// operator's own.
	Cluster string `json:"cluster,omitempty"`
}

// Link is what lies between two regions, in both directions. What is 0 is not
// there.
type Link struct {
	// Between are the two regions, in order. They may be one and the same.
	Between                    [2]string `json:"between"`
	DelayMilliseconds          int       `json:"delayMilliseconds,omitempty"`
	LossBasisPoints            int       `json:"lossBasisPoints,omitempty"`
	BandwidthMegabitsPerSecond int       `json:"bandwidthMegabitsPerSecond,omitempty"`
}

// To is the region at the other end of a link from a region; false if the link
// has no end there.
func (l Link) To(region string) (string, bool) {
	switch region {
	case l.Between[0]:
		return l.Between[1], true
	case l.Between[1]:
		return l.Between[0], true
	default:
		return "", false
	}
}

// Ports are the ports of a node.
type Ports struct {
	P2P  int `json:"p2p"`
	HTTP int `json:"http"`
	// Admin is the one of the admin API, which speaks TLS alone.
	Admin int `json:"admin"`
}

// DefaultPorts are the ports of a node that has an address of its own.
var DefaultPorts = Ports{P2P: 26600, HTTP: 26700, Admin: 26800}

// Validator is one node of the plan.
type Validator struct {
	// Name is NETWORK-sSHARD-pSLOT of a producer, NETWORK-vINDEX of a chunk
	// validator, NETWORK-rINDEX of an rpc node and NETWORK-aINDEX of an archive,
	// unique within the network.
	Name   string `json:"name"`
	Region string `json:"region"`
	// Cluster is the one of the region.
	Cluster string `json:"cluster,omitempty"`
	Role    Role   `json:"role"`
	// Seat is a producer's; nil for all others.
	*Seat
	// Machine is REGION-INDEX, unique within the network.
	Machine string `json:"machine"`
}

// Seat is a place among the producers of a shard.
type Seat struct {
	Shard int `json:"shard"`
	// Slot is the producer's turn: it produces at one of as many heights as the
	// shard has producers.
	Slot int `json:"slot"`
}

// Validators is how many of the nodes are validators.
func (p *Plan) Validators() int {
	validators := 0
	for _, node := range p.Nodes {
		if node.Role.Validates() {
			validators++
		}
	}
	return validators
}

// Members are the member clusters of a plan, by name.
func (p *Plan) Members() []string {
	var members []string
	for _, region := range p.Regions {
		if region.Cluster != "" {
			members = append(members, region.Cluster)
		}
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// In are the validators that a cluster holds, in the order of the plan.
func (p *Plan) In(cluster string) []Validator {
	var validators []Validator
	for _, validator := range p.Nodes {
		if validator.Cluster == cluster {
			validators = append(validators, validator)
		}
	}
	return validators
}
