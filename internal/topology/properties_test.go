// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// networks generates every shape of network: the machines of all nodes,
// divided at random among some regions.
var networks = rapid.Custom(func(t *rapid.T) *v1alpha1.ShardNetwork {
	shards := rapid.Int32Range(1, 80).Draw(t, "shards")
	producers := rapid.Int32Range(1, 6).Draw(t, "producersPerShard")
	chunkValidators := rapid.Int32Range(0, 20).Draw(t, "chunkValidators")
	rpcNodes := rapid.Int32Range(0, 10).Draw(t, "rpcNodes")
	archives := rapid.Int32Range(0, 5).Draw(t, "archiveNodes")
	left := shards*producers + chunkValidators + rpcNodes + archives
	var regions []v1alpha1.Region
	for left > 0 {
		nodes := left
		if len(regions) < 15 {
			nodes = rapid.Int32Range(1, left).Draw(t, "nodes")
		}
		regions = append(regions, v1alpha1.Region{Name: fmt.Sprintf("region-%d", len(regions)), Nodes: nodes})
		left -= nodes
	}
	drawn := network(shards, producers, regions...)
	drawn.Spec.ChunkValidators, drawn.Spec.RPCNodes = chunkValidators, rpcNodes
	drawn.Spec.ArchiveNodes = archives
	return drawn
})

// producersOf are the producers of a plan.
func producersOf(plan *topology.Plan) []topology.Validator {
	return slices.DeleteFunc(slices.Clone(plan.Nodes), func(validator topology.Validator) bool {
		return validator.Role != topology.RoleProducer
	})
}

func plan(t *rapid.T, network *v1alpha1.ShardNetwork) *topology.Plan {
	plan, err := topology.New(network)
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	return plan
}

func TestEveryShardHasItsSlots(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		network := networks.Draw(t, "network")
		plan := plan(t, network)
		if got, want := len(producersOf(plan)), plan.Shards*int(network.Spec.ProducersPerShard); got != want {
			t.Fatalf("%d producers, want %d", got, want)
		}
		names := map[string]bool{}
		for i, validator := range producersOf(plan) {
			shard, slot := i/int(network.Spec.ProducersPerShard), i%int(network.Spec.ProducersPerShard)
			if validator.Shard != shard || validator.Slot != slot {
				t.Fatalf("validator %d is of shard %d, slot %d; want %d, %d",
					i, validator.Shard, validator.Slot, shard, slot)
			}
			if validator.Name != topology.ProducerName("net", shard, slot) || names[validator.Name] {
				t.Fatalf("validator %d of shard %d, slot %d has the name %q", i, shard, slot, validator.Name)
			}
			names[validator.Name] = true
		}
	})
}

// After the producers come the chunk validators, the rpc nodes and then the archives,
// which have neither shard nor slot. Each region has its share of each: of the archives
// by all of its machines, and of the others by those that are left.
func TestNodesWithoutASeat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		network := networks.Draw(t, "network")
		plan := plan(t, network)
		rest := plan.Nodes[len(producersOf(plan)):]
		chunkValidators, rpcNodes := int(network.Spec.ChunkValidators), int(network.Spec.RPCNodes)
		archives := chunkValidators + rpcNodes
		if got, want := len(rest), archives+int(network.Spec.ArchiveNodes); got != want {
			t.Fatalf("%d nodes without a seat, want %d", got, want)
		}
		machines, all := map[string]int{}, len(plan.Nodes)
		for _, region := range network.Spec.Regions {
			machines[region.Name] = int(region.Nodes)
		}
		check := func(role topology.Role, nodes []topology.Validator, name func(network string, index int) string) {
			placed := map[string]int{}
			for i, node := range nodes {
				if node.Role != role || node.Seat != nil || node.Name != name("net", i) {
					t.Fatalf("node %d of role %s is %+v", i, role, node)
				}
				placed[node.Region]++
			}
			for region, count := range machines {
				share := float64(len(nodes)) * float64(count) / float64(all)
				if got := float64(placed[region]); math.Abs(got-share) >= 1 {
					t.Fatalf("%s has %g nodes of role %s, want %g or the number beside it", region, got, role, share)
				}
				machines[region] -= placed[region]
			}
			all -= len(nodes)
		}
		check(topology.RoleArchive, rest[archives:], topology.ArchiveName)
		check(topology.RoleRPC, rest[chunkValidators:archives], topology.RPCNodeName)
		check(topology.RoleChunkValidator, rest[:chunkValidators], topology.ChunkValidatorName)
	})
}

func TestEveryRegionHasItsNodes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		network := networks.Draw(t, "network")
		machines := map[string]map[string]bool{}
		for _, validator := range plan(t, network).Nodes {
			if machines[validator.Region] == nil {
				machines[validator.Region] = map[string]bool{}
			}
			if machines[validator.Region][validator.Machine] {
				t.Fatalf("two validators on machine %s", validator.Machine)
			}
			machines[validator.Region][validator.Machine] = true
		}
		for _, region := range network.Spec.Regions {
			if got := len(machines[region.Name]); got != int(region.Nodes) {
				t.Fatalf("%s has %d machines in use, want %d", region.Name, got, region.Nodes)
			}
		}
	})
}

// The best any plan can do for a region with n machines for producers and s
// shards is floor or ceil of n/s producers of each shard.
func TestShardsAreSpreadEvenlyOverRegions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		network := networks.Draw(t, "network")
		shards := int(network.Spec.Shards)
		placed, machines := map[string][]int{}, map[string]int{}
		for _, region := range network.Spec.Regions {
			placed[region.Name] = make([]int, shards)
		}
		for _, validator := range producersOf(plan(t, network)) {
			placed[validator.Region][validator.Shard]++
			machines[validator.Region]++
		}
		for _, region := range network.Spec.Regions {
			least, most := machines[region.Name]/shards, (machines[region.Name]+shards-1)/shards
			for shard, count := range placed[region.Name] {
				if count < least || count > most {
					t.Fatalf("%s has %d validators of shard %d, want %d to %d", region.Name, count, shard, least, most)
				}
			}
		}
	})
}

// At any height one slot of each shard produces. In every region these are
// close to the region's share of all validators, so that no height has all its
// chunks come from one place.
func TestTurnsAreSpreadEvenlyOverRegions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		network := networks.Draw(t, "network")
		producers := int(network.Spec.ProducersPerShard)
		turns, machines := map[string][]int{}, map[string]int{}
		for _, region := range network.Spec.Regions {
			turns[region.Name] = make([]int, producers)
		}
		for _, validator := range producersOf(plan(t, network)) {
			turns[validator.Region][validator.Slot]++
			machines[validator.Region]++
		}
		// A region is part of a round, some whole rounds and part of another. A
		// part is even to within one; whole rounds whose shards do not divide by
		// the producers add up to at most a quarter of the producers.
		tolerance := float64(producers)/4 + 2
		for _, region := range network.Spec.Regions {
			share := float64(machines[region.Name]) / float64(producers)
			for slot, count := range turns[region.Name] {
				if math.Abs(float64(count)-share) >= tolerance {
					t.Fatalf("%s has %d validators in slot %d, want %.1f within %.1f",
						region.Name, count, slot, share, tolerance)
				}
			}
		}
	})
}

func TestPlansAreDeterministic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		network := networks.Draw(t, "network")
		want := plan(t, network)
		if got := plan(t, network.DeepCopy()); !reflect.DeepEqual(got, want) {
			t.Fatalf("the same network planned twice gives %+v and %+v", want, got)
		}
	})
}

func TestOrderOfRegionsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		network := networks.Draw(t, "network")
		want := plan(t, network)
		shuffled := network.DeepCopy()
		shuffled.Spec.Regions = rapid.Permutation(network.Spec.Regions).Draw(t, "order")
		if got := plan(t, shuffled); !reflect.DeepEqual(got, want) {
			t.Fatalf("regions in another order give another plan: %+v, not %+v", got, want)
		}
	})
}

func TestPlanningLeavesTheSpecAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		network := networks.Draw(t, "network")
		network.Spec.Regions = rapid.Permutation(network.Spec.Regions).Draw(t, "order")
		before := network.DeepCopy()
		plan(t, network)
		if !reflect.DeepEqual(network, before) {
			t.Fatalf("planning changed the network to %+v", network)
		}
	})
}
