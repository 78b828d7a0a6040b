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

	links, err := planLinks(&network.Spec)
	if err != nil {
		return nil, err
	}

	rest, forArchives := divide(allMachines(regions), int(network.Spec.ArchiveNodes))
	rest, forRPCNodes := divide(rest, int(network.Spec.RPCNodes))
	forProducers, forChunkValidators := divide(rest, int(network.Spec.ChunkValidators))
	return &Plan{
		Network: network.Name,
		Shards:  shards,
		Regions: regions,
		Links:   links,
		Ports:   DefaultPorts,
		Nodes: slices.Concat(
			planProducers(network.Name, shards, producers, forProducers),
			planSeatless(RoleChunkValidator, forChunkValidators, func(i int) string { return ChunkValidatorName(network.Name, i) }),
			planSeatless(RoleRPC, forRPCNodes, func(i int) string { return RPCNodeName(network.Name, i) }),
			planSeatless(RoleArchive, forArchives, func(i int) string { return ArchiveName(network.Name, i) })),
	}, nil
}

// planRegions checks that the regions have exactly one machine per node and puts
// them in order. A spec without regions has one of the right size.
func planRegions(spec *v1alpha1.ShardNetworkSpec) ([]Region, error) {
	if spec.Shards < 1 {
		return nil, fmt.Errorf("spec.shards: must be at least 1, is %d", spec.Shards)
	}
	if spec.ProducersPerShard < 1 {
		return nil, fmt.Errorf("spec.producersPerShard: must be at least 1, is %d", spec.ProducersPerShard)
	}

	if spec.ChunkValidators < 0 {
		return nil, fmt.Errorf("spec.chunkValidators: must be at least 0, is %d", spec.ChunkValidators)
	}

	if spec.RPCNodes < 0 {
		return nil, fmt.Errorf("spec.rpcNodes: must be at least 0, is %d", spec.RPCNodes)
	}

	if spec.ArchiveNodes < 0 {
		return nil, fmt.Errorf("spec.archiveNodes: must be at least 0, is %d", spec.ArchiveNodes)
	}

	want := int(spec.Shards)*int(spec.ProducersPerShard) + int(spec.ChunkValidators) + int(spec.RPCNodes) + int(spec.ArchiveNodes)
	if len(spec.Regions) == 0 {
		return []Region{{Name: Anywhere, Nodes: want}}, nil
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
	if nodes != want {
		return nil, fmt.Errorf("spec.regions: the regions have %d nodes, "+
			"but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is %d", nodes, want)
	}

	slices.SortFunc(regions, func(a, b Region) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(regions); i++ {
		if regions[i].Name == regions[i-1].Name {
			return nil, fmt.Errorf("spec.regions: region %q is there twice", regions[i].Name)
		}
	}
	return regions, nil
}

// planLinks checks that links are between regions, and puts them in order.
func planLinks(spec *v1alpha1.ShardNetworkSpec) ([]Link, error) {
	var links []Link
	for i, link := range spec.Links {
		if len(link.Between) != 2 {
			return nil, fmt.Errorf("spec.links[%d].between: must be two regions, is %d", i, len(link.Between))
		}
		for _, name := range link.Between {
			if !slices.ContainsFunc(spec.Regions, func(r v1alpha1.Region) bool { return r.Name == name }) {
				return nil, fmt.Errorf("spec.links[%d].between: there is no region %q", i, name)
			}
		}
		links = append(links, Link{
			Between:                    [2]string{min(link.Between[0], link.Between[1]), max(link.Between[0], link.Between[1])},
			DelayMilliseconds:          int(link.DelayMilliseconds),
			LossBasisPoints:            int(link.LossBasisPoints),
			BandwidthMegabitsPerSecond: int(link.BandwidthMegabitsPerSecond),
		})
	}

	slices.SortFunc(links, func(a, b Link) int { return slices.Compare(a.Between[:], b.Between[:]) })
	for i := 1; i < len(links); i++ {
		if between := links[i].Between; between == links[i-1].Between {
			return nil, fmt.Errorf("spec.links: the link between %q and %q is there twice", between[0], between[1])
		}
	}
	return links, nil
}

// machines are some of a region's machines, in a row.
type machines struct {
	region       Region
	first, count int
}

// allMachines are those of each region.
func allMachines(regions []Region) []machines {
	places := make([]machines, 0, len(regions))
	for _, region := range regions {
		places = append(places, machines{region, 0, region.Nodes})
	}
	return places
}

// divide takes the last of each region's machines for some nodes: floor or ceil of
// the region's share of them, which is as even as can be.
func divide(places []machines, some int) (rest, taken []machines) {
	all := 0
	for _, place := range places {
		all += place.count
	}
	before := 0
	for _, place := range places {
		after := before + place.count
		last := after*some/all - before*some/all
		first := place.count - last
		rest = append(rest, machines{place.region, place.first, first})
		taken = append(taken, machines{place.region, place.first + first, last})
		before = after
	}
	return rest, taken
}

// planProducers deals the shards to the machines like cards: machine 0, 1, 2,
// … of all regions in a row get shard 0, 1, 2, … and then shard 0 again. A
// region is a run of consecutive machines, so each shard gets floor or ceil of
// machines/shards producers in it. No plan is more even than that, and two
// producers of a shard meet in a region only when it has more machines than
// there are shards.
//
// Slots are rotated from shard to shard. Otherwise slot 0 of every shard would
// be in the first region, and as slots take turns by height, all chunks of a
// height would come from one place.
func planProducers(network string, shards, producers int, places []machines) []Validator {
	validators := make([]Validator, shards*producers)
	card := 0
	for _, place := range places {
		for index := range place.count {
			shard, round := card%shards, card/shards
			slot := (round + shard) % producers
			validators[shard*producers+slot] = Validator{
				Name:    ProducerName(network, shard, slot),
				Region:  place.region.Name,
				Cluster: place.region.Cluster,
				Role:    RoleProducer,
				Seat:    &Seat{Shard: shard, Slot: slot},
				Machine: MachineName(place.region.Name, place.first+index),
			}
			card++
		}
	}
	return validators
}

// planSeatless numbers nodes without a seat from machine to machine.
func planSeatless(role Role, places []machines, name func(index int) string) []Validator {
	var validators []Validator
	for _, place := range places {
		for index := range place.count {
			validators = append(validators, Validator{
				Name:    name(len(validators)),
				Region:  place.region.Name,
				Cluster: place.region.Cluster,
				Role:    role,
				Machine: MachineName(place.region.Name, place.first+index),
			})
		}
	}
	return validators
}

// ProducerName is the name of the producer at a shard's slot.
func ProducerName(network string, shard, slot int) string {
	return fmt.Sprintf("%s-s%d-p%d", network, shard, slot)
}

// ChunkValidatorName is the name of a chunk validator.
func ChunkValidatorName(network string, index int) string {
	return fmt.Sprintf("%s-v%d", network, index)
}

// RPCNodeName is the name of an rpc node.
func RPCNodeName(network string, index int) string {
	return fmt.Sprintf("%s-r%d", network, index)
}

// ArchiveName is the name of an archive.
func ArchiveName(network string, index int) string {
	return fmt.Sprintf("%s-a%d", network, index)
}

// MachineName is the name of a region's machine.
func MachineName(region string, index int) string {
	return fmt.Sprintf("%s-%d", region, index)
}
