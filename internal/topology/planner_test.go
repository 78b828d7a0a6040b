// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

func network(shards, producers int32, regions ...v1alpha1.Region) *v1alpha1.ShardNetwork {
	return &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Name: "net"},
		Spec: v1alpha1.ShardNetworkSpec{
			Shards:            shards,
			ProducersPerShard: producers,
			Regions:           regions,
		},
	}
}

// The layout of the 70-shard reproduction: every region gets exactly its
// nodes, and no shard depends on one machine or one region.
func TestSeventyShardsOverThreeRegions(t *testing.T) {
	t.Parallel()
	plan, err := topology.New(network(70, 2,
		v1alpha1.Region{Name: "us-central1", Nodes: 47},
		v1alpha1.Region{Name: "us-east1", Nodes: 47},
		v1alpha1.Region{Name: "us-east4", Nodes: 46},
	))
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Nodes) != 140 {
		t.Fatalf("%d validators, want 140", len(plan.Nodes))
	}

	perRegion, perRegionTurn := map[string]int{}, map[string]int{}
	machines := map[string]bool{}
	for _, validator := range plan.Nodes {
		perRegion[validator.Region]++
		if validator.Slot == 0 {
			perRegionTurn[validator.Region]++
		}
		if machines[validator.Machine] {
			t.Errorf("two validators on machine %s", validator.Machine)
		}
		machines[validator.Machine] = true
	}
	for region, want := range map[string]int{"us-central1": 47, "us-east1": 47, "us-east4": 46} {
		if perRegion[region] != want {
			t.Errorf("%s has %d validators, want %d", region, perRegion[region], want)
		}
		// Half of a region's validators produce at even heights, half at odd.
		if turn := perRegionTurn[region]; turn < want/2 || turn > want/2+1 {
			t.Errorf("%s has %d of %d validators in slot 0, want half", region, turn, want)
		}
	}
	for shard := range 70 {
		first, second := plan.Nodes[2*shard], plan.Nodes[2*shard+1]
		if first.Shard != shard || second.Shard != shard {
			t.Fatalf("validators %s and %s are not those of shard %d", first.Name, second.Name, shard)
		}
		if first.Region == second.Region {
			t.Errorf("both producers of shard %d are in %s", shard, first.Region)
		}
	}
}

func chunkValidators(count int32, network *v1alpha1.ShardNetwork) *v1alpha1.ShardNetwork {
	network.Spec.ChunkValidators = count
	return network
}

func rpcNodes(count int32, network *v1alpha1.ShardNetwork) *v1alpha1.ShardNetwork {
	network.Spec.RPCNodes = count
	return network
}

func archives(count int32, network *v1alpha1.ShardNetwork) *v1alpha1.ShardNetwork {
	network.Spec.ArchiveNodes = count
	return network
}

// The JSON of a plan is an interface: scripts read it.
func TestPlanJSON(t *testing.T) {
	t.Parallel()
	plan, err := topology.New(rpcNodes(1, chunkValidators(1, network(2, 2,
		v1alpha1.Region{Name: "north", Nodes: 3},
		v1alpha1.Region{Name: "south", Nodes: 3},
	))))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Errorf("plan is\n%s\nwant\n%s", got, want)
	}
}

// Without regions there is one, of all validators, in the operator's own cluster.
func TestNoRegions(t *testing.T) {
	t.Parallel()
	spread := chunkValidators(1, network(2, 2))
	spread.Spec.Placement.RegionAffinity = v1alpha1.RegionRequired
	plan, err := topology.New(spread)
	if err != nil {
		t.Fatal(err)
	}
	if want := []topology.Region{{Name: "anywhere", Nodes: 5}}; !slices.Equal(plan.Regions, want) {
		t.Errorf("the regions are %v, want %v", plan.Regions, want)
	}
	for _, validator := range plan.Nodes {
		if validator.Region != "anywhere" || validator.Cluster != "" {
			t.Errorf("%s is in region %q of cluster %q", validator.Name, validator.Region, validator.Cluster)
		}
	}
	if topology.KeepsToRegions(&spread.Spec) {
		t.Error("validators keep to a region that nobody named")
	}
}

func TestRefusedSpecs(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		network *v1alpha1.ShardNetwork
		want    string
	}{
		"no shards":                 {network(0, 1, v1alpha1.Region{Name: "a", Nodes: 1}), "spec.shards: must be at least 1"},
		"negative shards":           {network(-2, 1, v1alpha1.Region{Name: "a", Nodes: 1}), "spec.shards: must be at least 1"},
		"no producers":              {network(1, 0, v1alpha1.Region{Name: "a", Nodes: 1}), "spec.producersPerShard: must be"},
		"negative chunk validators": {chunkValidators(-1, network(1, 1, v1alpha1.Region{Name: "a", Nodes: 1})), "spec.chunkValidators: must be"},
		"negative rpc nodes":        {rpcNodes(-1, network(1, 1, v1alpha1.Region{Name: "a", Nodes: 1})), "spec.rpcNodes: must be"},
		"negative archives":         {archives(-1, network(1, 1, v1alpha1.Region{Name: "a", Nodes: 1})), "spec.archiveNodes: must be"},
		"no nodes for archives": {
			archives(2, network(1, 1, v1alpha1.Region{Name: "a", Nodes: 1})),
			"have 1 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 3",
		},
		"no nodes for rpc nodes": {
			rpcNodes(2, network(1, 1, v1alpha1.Region{Name: "a", Nodes: 1})),
			"have 1 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 3",
		},
		"no nodes for chunk validators": {
			chunkValidators(1, network(1, 1, v1alpha1.Region{Name: "a", Nodes: 1})),
			"have 1 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 2",
		},
		"too many nodes":   {network(1, 1, v1alpha1.Region{Name: "a", Nodes: 2}), "have 2 nodes, but shards * producersPerShard"},
		"region of no one": {network(1, 1, v1alpha1.Region{Name: "a"}), "spec.regions[0].nodes: must be at least 1"},
		"link to nowhere": {
			links(network(1, 1, v1alpha1.Region{Name: "a", Nodes: 1}), v1alpha1.LinkSpec{Between: []string{"a", "b"}}),
			`spec.links[0].between: there is no region "b"`,
		},
		"link without regions": {
			links(network(1, 1), v1alpha1.LinkSpec{Between: []string{"anywhere", "anywhere"}}),
			`spec.links[0].between: there is no region "anywhere"`,
		},
		"link of one end": {
			links(network(1, 1, v1alpha1.Region{Name: "a", Nodes: 1}), v1alpha1.LinkSpec{Between: []string{"a"}}),
			"spec.links[0].between: must be two regions, is 1",
		},
		"link twice": {
			links(network(2, 1, v1alpha1.Region{Name: "a", Nodes: 1}, v1alpha1.Region{Name: "b", Nodes: 1}),
				v1alpha1.LinkSpec{Between: []string{"a", "b"}}, v1alpha1.LinkSpec{Between: []string{"b", "a"}}),
			`the link between "a" and "b" is there twice`,
		},
		"region twice": {
			network(2, 1, v1alpha1.Region{Name: "a", Nodes: 1}, v1alpha1.Region{Name: "a", Nodes: 1}),
			`region "a" is there twice`,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := topology.New(test.network)
			if err == nil {
				t.Fatalf("planned %+v, want an error", plan)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %q, want it to say %q", err, test.want)
			}
		})
	}
}

// links adds what lies between regions to a network.
func links(network *v1alpha1.ShardNetwork, links ...v1alpha1.LinkSpec) *v1alpha1.ShardNetwork {
	network.Spec.Links = links
	return network
}

// The order of links and of their ends does not matter.
func TestLinks(t *testing.T) {
	t.Parallel()
	regions := []v1alpha1.Region{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 1}, {Name: "c", Nodes: 1}}
	plan, err := topology.New(links(network(3, 1, regions...),
		v1alpha1.LinkSpec{Between: []string{"c", "a"}, DelayMilliseconds: 40, LossBasisPoints: 2},
		v1alpha1.LinkSpec{Between: []string{"b", "b"}, BandwidthMegabitsPerSecond: 10},
		v1alpha1.LinkSpec{Between: []string{"a", "b"}, DelayMilliseconds: 5}))
	if err != nil {
		t.Fatal(err)
	}
	want := []topology.Link{
		{Between: [2]string{"a", "b"}, DelayMilliseconds: 5},
		{Between: [2]string{"a", "c"}, DelayMilliseconds: 40, LossBasisPoints: 2},
		{Between: [2]string{"b", "b"}, BandwidthMegabitsPerSecond: 10},
	}
	if !slices.Equal(plan.Links, want) {
		t.Errorf("the links are %+v, want %+v", plan.Links, want)
	}
	for region, want := range map[string][]string{"a": {"b", "c"}, "b": {"a", "b"}, "c": {"a"}, "d": nil} {
		var to []string
		for _, link := range plan.Links {
			if end, ok := link.To(region); ok {
				to = append(to, end)
			}
		}
		if !slices.Equal(to, want) {
			t.Errorf("links from %s lead to %v, want %v", region, to, want)
		}
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	plan, err := topology.New(network(2, 3,
		v1alpha1.Region{Name: "a", Nodes: 2, Cluster: "second"}, v1alpha1.Region{Name: "b", Nodes: 1},
		v1alpha1.Region{Name: "c", Nodes: 1, Cluster: "first"}, v1alpha1.Region{Name: "d", Nodes: 2, Cluster: "second"}))
	if err != nil {
		t.Fatal(err)
	}
	if members := plan.Members(); !slices.Equal(members, []string{"first", "second"}) {
		t.Errorf("the members are %v", members)
	}
	for cluster, want := range map[string][]string{"": {"b"}, "first": {"c"}, "second": {"a", "a", "d", "d"}, "other": nil} {
		var regions []string
		for _, validator := range plan.In(cluster) {
			regions = append(regions, validator.Region)
		}
		if slices.Sort(regions); !slices.Equal(regions, want) {
			t.Errorf("cluster %q has validators of the regions %v, want %v", cluster, regions, want)
		}
	}
}
