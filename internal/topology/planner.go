// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// New plans a network. The order of the spec's regions does not matter.
func New(network *v1alpha1.ShardNetwork) (*Plan, error) {
	shards, producers := int(network.Spec.Shards), int(network.Spec.ProducersPerShard)
	regions, err := planRegions(&network.Spec)
	if err != nil {
		return nil, err
	}

	return &Plan{
		Network:    network.Name,
		Shards:     shards,
		Regions:    regions,
		Ports:      DefaultPorts,
		Validators: planValidators(network.Name, shards, producers, regions),
	}, nil
}

// planRegions checks that the regions have exactly one machine per producer
// and puts them in order.
func planRegions(spec *v1alpha1.ShardNetworkSpec) ([]Region, error) {
	if spec.Shards < 1 {
		return nil, fmt.Errorf("spec.shards: must be at least 1, is %d", spec.Shards)
	}
	if spec.ProducersPerShard < 1 {
		return nil, fmt.Errorf("spec.producersPerShard: must be at least 1, is %d", spec.ProducersPerShard)
	}

	regions := make([]Region, 0, len(spec.Regions))
	nodes := 0
	for i, region := range spec.Regions {
		if region.Nodes < 1 {
			return nil, fmt.Errorf("spec.regions[%d].nodes: must be at least 1, is %d", i, region.Nodes)
		}
		regions = append(regions, Region{Name: region.Name, Nodes: int(region.Nodes), Cluster: region.Cluster})
		nodes += int(region.Nodes)
	}
	if want := int(spec.Shards) * int(spec.ProducersPerShard); nodes != want {
		return nil, fmt.Errorf("spec.regions: the nodes of all regions sum to %d, "+
			"but shards * producersPerShard is %d", nodes, want)
	}

	slices.SortFunc(regions, func(a, b Region) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(regions); i++ {
		if regions[i].Name == regions[i-1].Name {
			return nil, fmt.Errorf("spec.regions: region %q is there twice", regions[i].Name)
		}
	}
	return regions, nil
}

// planValidators deals the shards to the machines like cards: machine 0, 1, 2,
// … of all regions in a row get shard 0, 1, 2, … and then shard 0 again. A
// region is a run of consecutive machines, so each shard gets floor or ceil of
// nodes/shards validators in it. No plan is more even than that, and two
// validators of a shard meet in a region only when it has more machines than
// there are shards.
//
// Slots are rotated from shard to shard. Otherwise slot 0 of every shard would
// be in the first region, and as slots take turns by height, all chunks of a
// height would come from one place.
func planValidators(network string, shards, producers int, regions []Region) []Validator {
	validators := make([]Validator, shards*producers)
	card := 0
	for _, region := range regions {
		for index := range region.Nodes {
			shard, round := card%shards, card/shards
			slot := (round + shard) % producers
			validators[shard*producers+slot] = Validator{
				Name:    ValidatorName(network, shard, slot),
				Region:  region.Name,
				Cluster: region.Cluster,
				Shard:   shard,
				Role:    RoleProducer,
				Slot:    slot,
				Machine: MachineName(region.Name, index),
			}
			card++
		}
	}
	return validators
}

// ValidatorName is the name of the validator at a shard's slot.
func ValidatorName(network string, shard, slot int) string {
	return fmt.Sprintf("%s-s%d-p%d", network, shard, slot)
}

// MachineName is the name of a region's machine.
func MachineName(region string, index int) string {
	return fmt.Sprintf("%s-%d", region, index)
}
