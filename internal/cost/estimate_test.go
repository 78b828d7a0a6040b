// SPDX-License-Identifier: Apache-2.0

package cost_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
)

func TestParts(t *testing.T) {
	t.Parallel()
	type spec = v1alpha1.ShardNetworkSpec
	const (
		machines = v1alpha1.CostPartMachines
		disks    = v1alpha1.CostPartDisks
		clusters = v1alpha1.CostPartClusters
		traffic  = v1alpha1.CostPartTraffic
	)
	cases := map[string]struct {
		change  func(*spec)
		part    v1alpha1.CostPartName
		perHour string
		basis   string
	}{
		// 2 * 1 + 2 * 2
		"machines": {nil, machines, "6.00", "4 of large on demand"},
		"machines, shared": {
			func(spec *spec) { spec.Placement.Exclusivity = v1alpha1.Shared }, machines, "unknown", "leaves the number of machines open",
		},
		"machines, any": {func(spec *spec) { spec.Placement.MachineType = "" }, machines, "unknown", "spec.placement.machineType is not set"},
		"machines, a region's": {func(spec *spec) {
			spec.Placement.Regions = []v1alpha1.RegionPlacement{{Name: "north", MachineType: "small"}}
		}, machines, "5.00", "2 of large on demand, 2 of small on demand"},
		"machines, any in a region": {func(spec *spec) {
			spec.Placement.MachineType = ""
			spec.Placement.Regions = []v1alpha1.RegionPlacement{{Name: "north", MachineType: "small"}}
		}, machines, "unknown", "spec.placement.machineType is not set"},
		"machines, new": {func(spec *spec) { spec.Placement.MachineType = "new" }, machines, "unknown", "no price of new in region north"},
		"machines, half": {
			func(spec *spec) { spec.Placement.MachineType = "small" }, machines, "unknown", "no price of small in region south",
		},
		"machines, nowhere": {inRegions(v1alpha1.Region{Name: "west", Nodes: 4}), machines, "unknown", "no prices of region west"},

		"no disks": {nil, disks, "0.00", "no spec.volume"},
		// 2 * (10 + 10 + 6) + twice that for the south, over 100 hours
		"disks": {disk("100Gi", 4000, 200), disks, "1.56", "4 of hyperdisk-balanced: 100 GiB, 4000 IOPS, 200 MiB/s"},
		// What is included costs nothing: 2 * 10 + 2 * 20
		"disks, included":      {disk("100Gi", 100, 1), disks, "0.60", "100 GiB, 100 IOPS, 1 MiB/s"},
		"disks, broken size":   {disk("100G", 3000, 140), disks, "0.56", "94 GiB"},
		"disks, no throughput": {disk("100Gi", 4000, 0), disks, "unknown", "spec.volume.throughputMebibytesPerSecond is not set"},
		"disks, no IOPS":       {disk("100Gi", 0, 140), disks, "unknown", "spec.volume.iops is not set"},
		"disks, default class": {disk("100Gi", 0, 0), disks, "unknown", "no price of the cluster's default storage class"},
		"disks, a class": {func(spec *spec) {
			spec.Volume = &v1alpha1.VolumeSpec{Size: resource.MustParse("1Gi"), StorageClassName: "fast"}
		}, disks, "unknown", "no price of the storage class fast"},
		// 2 * 26 in the north and one of 52 in the south, beside the chunk validator's of 10 * 0.2
		"disks, a role's": {func(spec *spec) {
			disk("100Gi", 4000, 200)(spec)
			spec.Shards, spec.ProducersPerShard, spec.ChunkValidators = 3, 1, 1
			spec.Volume.Roles = []v1alpha1.RoleVolume{{
				Role: v1alpha1.NodeRoleChunkValidator, Size: resource.MustParse("10Gi"), IOPS: 100, ThroughputMebibytesPerSecond: 1,
			}}
		}, disks, "1.06", "3 of hyperdisk-balanced: 100 GiB, 4000 IOPS, 200 MiB/s; 1 of hyperdisk-balanced: 10 GiB, 100 IOPS, 1 MiB/s"},
		"disks, a role's class": {func(spec *spec) {
			disk("100Gi", 4000, 200)(spec)
			spec.Shards, spec.ProducersPerShard, spec.ChunkValidators = 3, 1, 1
			spec.Volume.Roles = []v1alpha1.RoleVolume{{
				Role: v1alpha1.NodeRoleChunkValidator, Size: resource.MustParse("10Gi"), IOPS: 100,
			}}
		}, disks, "unknown", "spec.volume.roles[0].throughputMebibytesPerSecond is not set"},
		"disks, nowhere": {func(spec *spec) {
			disk("100Gi", 4000, 200)(spec)
			spec.Regions = []v1alpha1.Region{{Name: "west", Nodes: 4}}
		}, disks, "unknown", "no prices of region west"},

		"clusters":          {nil, clusters, "0.20", "2 of GKE, one in each region"},
		"clusters, nowhere": {inRegions(v1alpha1.Region{Name: "west", Nodes: 4}), clusters, "unknown", "no prices of region west"},
		"clusters, anywhere": {
			func(spec *spec) { spec.Placement.RegionAffinity = v1alpha1.RegionNone },
			clusters, "unknown", "spec.placement.regionAffinity is None",
		},
		"clusters, no regions": {func(spec *spec) { spec.Regions = nil }, clusters, "unknown", "there are no spec.regions"},

		// 64 MiB/s are 225 GiB or 4.5 USD per hour; two of every three others are in the other region, so 4 * 4.5 * 2/3
		"traffic": {nil, traffic, "12.00", "64.0 MiB/s at full load, as there is no spec.load that says less, 67% of it"},
		// 1000 of 4000
		"traffic, little load": {load(1000, 500), traffic, "3.00", "16.0 MiB/s at 1000 transfers per second, 67% of it"},
		"traffic, too much":    {load(0, 40_000), traffic, "12.00", "64.0 MiB/s at full load, 67% of it"},
		"traffic, no load":     {load(0, 0), traffic, "0.00", "0.0 MiB/s at 0 transfers per second"},
		"traffic, one region":  {inRegions(v1alpha1.Region{Name: "north", Nodes: 4}), traffic, "0.00", "all validators are in one region"},
		// 3 * 1/3 + 1 * 3/3 senders
		"traffic, uneven": {
			inRegions(v1alpha1.Region{Name: "north", Nodes: 3}, v1alpha1.Region{Name: "south", Nodes: 1}), traffic, "9.00", "50% of it",
		},
		"traffic, nowhere": {
			inRegions(v1alpha1.Region{Name: "north", Nodes: 3}, v1alpha1.Region{Name: "west", Nodes: 1}),
			traffic, "unknown", "no prices of region west",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []func(*spec)
			if test.change != nil {
				changes = append(changes, test.change)
			}
			estimate := estimate(t, changes...)
			for _, part := range estimate.Parts {
				if part.Name != test.part {
					continue
				}
				if dollars(part.USDPerHour) != test.perHour || !strings.Contains(part.Basis, test.basis) {
					t.Errorf("the cost is %s, for %q; want %s, for %q", dollars(part.USDPerHour), part.Basis, test.perHour, test.basis)
				}
				return
			}
			t.Errorf("the estimate has no part %s", test.part)
		})
	}
}

// The sum is that of all parts or none.
func TestSums(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		changes         []func(*v1alpha1.ShardNetworkSpec)
		perHour, perRun string
	}{
		// 6 + 1.56 + 0.2 + 12
		"per hour":         {[]func(*v1alpha1.ShardNetworkSpec){disk("100Gi", 4000, 200)}, "19.76", "unknown"},
		"with an end":      {[]func(*v1alpha1.ShardNetworkSpec){disk("100Gi", 4000, 200), lifetime(5400)}, "19.76", "29.64"},
		"a part not known": {[]func(*v1alpha1.ShardNetworkSpec){disk("100Gi", 0, 0), lifetime(5400)}, "unknown", "unknown"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			estimate := estimate(t, test.changes...)
			if dollars(estimate.USDPerHour) != test.perHour || dollars(estimate.USDPerRun) != test.perRun {
				t.Errorf("the cost is %s per hour and %s per run, want %s and %s",
					dollars(estimate.USDPerHour), dollars(estimate.USDPerRun), test.perHour, test.perRun)
			}
		})
	}
}

// What is not known is not there: whoever reads 0 takes it for free.
func TestEstimateJSON(t *testing.T) {
	t.Parallel()
	estimate := estimate(t, disk("100Gi", 0, 0))
	got, err := json.MarshalIndent(estimate.Parts[:2], "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `[
  {
    "name": "Machines",
    "usdPerHour": 6.00,
    "basis": "4 of large on demand"
  },
  {
    "name": "Disks",
    "basis": "there is no price of the cluster's default storage class"
  }
]`
	if string(got) != want {
		t.Errorf("the parts are\n%s\nwant\n%s", got, want)
	}
	whole, err := json.Marshal(estimate)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(string(whole), `{"pricesDate":"2026-08-20","usdPer`) {
		t.Errorf("the estimate has a sum: %s", whole)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	prices, err := cost.ReadPrices()
	if err != nil {
		t.Fatal(err)
	}
	if len(prices.Sources) == 0 {
		t.Error("nothing says where the prices are from")
	}
	for region := range prices.MachineTypes["c4d-highmem-16"] {
		if _, ok := prices.Disks["hyperdisk-balanced"][region]; !ok {
			t.Errorf("region %s has prices of machines and none of disks", region)
		}
	}

	for name, test := range map[string]struct{ old, replacement, want string }{
		"not JSON":        {"{", "", "read prices: "},
		"misspelt":        {"gibMonth", "gbMonth", `unknown field "gbMonth"`},
		"no date":         {"2026-08-20", "August", "date: "},
		"other currency":  {"USD", "EUR", `currency: must be USD, is "EUR"`},
		"free machine":    {`"small": {"north": 0.5}`, `"small": {"north": 0}`, "machineTypes.small.north: must be positive, is 0"},
		"free traffic":    {`"interRegionPerGib": 0.02, `, "", "egress.interRegionPerGib: must be positive, is 0"},
		"negative fee":    {`"clusterFeePerHour": 0.1`, `"clusterFeePerHour": -0.1`, "clusterFeePerHour: must be positive, is -0.1"},
		"free throughput": {`"mibpsMonth": 0.2, `, "", "disks.hyperdisk-balanced.south.mibpsMonth: must be positive, is 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := strings.Replace(testPrices, test.old, test.replacement, 1)
			if wrong == testPrices {
				t.Fatalf("%q is not in the prices", test.old)
			}
			if _, err := cost.ParsePrices([]byte(wrong)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want it to say %q", err, test.want)
			}
		})
	}
}
