// SPDX-License-Identifier: Apache-2.0

package cost_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/topology"
)

// testPrices make sums that a reader can do in the head.
const testPrices = `{
  "date": "2026-08-20",
  "currency": "USD",
  "hoursPerMonth": 100,
  "sources": ["a test"],
  "machineTypes": {"large": {"north": 1, "south": 2}, "small": {"north": 0.5}},
  "disks": {"hyperdisk-balanced": {
    "north": {"gibMonth": 0.1, "iopsMonth": 0.01, "mibpsMonth": 0.1, "iopsIncluded": 3000, "mibpsIncluded": 140},
    "south": {"gibMonth": 0.2, "iopsMonth": 0.02, "mibpsMonth": 0.2, "iopsIncluded": 3000, "mibpsIncluded": 140}
  }},
  "clusterFeePerHour": 0.1,
  "egress": {"interRegionPerGib": 0.02, "assumed": {"mibpsPerNode": 64, "transfersPerSecondPerNode": 1000}}
}`

// estimate is that of a network of two shards with two validators each, of
// which two run in the north and two in the south, with changes.
func estimate(t *testing.T, changes ...func(*v1alpha1.ShardNetworkSpec)) *cost.Estimate {
	t.Helper()
	network := &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "net"},
		Spec: v1alpha1.ShardNetworkSpec{
			Shards:            2,
			ProducersPerShard: 2,
			Regions:           []v1alpha1.Region{{Name: "north", Nodes: 2}, {Name: "south", Nodes: 2}},
			Placement: v1alpha1.PlacementSpec{
				MachineType:    "large",
				Exclusivity:    v1alpha1.OneValidatorPerMachine,
				RegionAffinity: v1alpha1.RegionRequired,
			},
		},
	}
	for _, change := range changes {
		change(&network.Spec)
	}
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	prices, err := cost.ParsePrices([]byte(testPrices))
	if err != nil {
		t.Fatal(err)
	}
	return cost.New(network, plan, prices)
}

// disk gives every validator a disk.
func disk(size string, iops, throughput int32) func(*v1alpha1.ShardNetworkSpec) {
	return func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Volume = &v1alpha1.VolumeSpec{
			Size: resource.MustParse(size), IOPS: iops, ThroughputMebibytesPerSecond: throughput,
		}
	}
}

// load gives the network a load of its own, in two steps.
func load(first, second int64) func(*v1alpha1.ShardNetworkSpec) {
	return func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Load = &v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{Steps: []v1alpha1.RampStep{
			{TransfersPerSecond: ptr.To(first), DurationSeconds: 1},
			{TransfersPerSecond: ptr.To(second), DurationSeconds: 1},
		}}}
	}
}

// lifetime gives the network an end.
func lifetime(seconds int32) func(*v1alpha1.ShardNetworkSpec) {
	return func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Lifetime = &v1alpha1.LifetimeSpec{DurationSeconds: seconds, Action: v1alpha1.LifetimeDelete}
	}
}

// inRegions puts the validators elsewhere.
func inRegions(regions ...v1alpha1.Region) func(*v1alpha1.ShardNetworkSpec) {
	return func(spec *v1alpha1.ShardNetworkSpec) { spec.Regions = regions }
}

// dollars is how tests write an amount that may not be known.
func dollars(amount *cost.USD) string {
	if amount == nil {
		return "unknown"
	}
	return amount.String()
}
