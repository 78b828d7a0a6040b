// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"reflect"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/topology"
)

func TestLinkOrders(t *testing.T) {
	t.Parallel()
	const s0p0, s0p1, s1p0, s1p1, v0, r0 = "net-s0-p0", "net-s0-p1", "net-s1-p0", "net-s1-p1", "net-v0", "net-r0"
	first := v1alpha1.FaultValidators{Names: []string{s0p0}}
	partition := func(from v1alpha1.FaultValidators) v1alpha1.FaultSpec {
		return v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPartition, Partition: &v1alpha1.PartitionFault{From: from}}
	}
	cut := chain.LinkFault{Condition: chain.LinkCut}
	cases := map[string]struct {
		of   v1alpha1.FaultValidators
		spec v1alpha1.FaultSpec
		// told is who is told of which peers, and each the fault, but for its duration.
		told    map[string][]string
		each    chain.LinkFault
		refused string
	}{
		"a killed process":     {of: first, spec: v1alpha1.FaultSpec{Action: v1alpha1.FaultActionKill}},
		"a process that hangs": {of: first, spec: v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPause}},
		"a shard, from all others": {
			of: v1alpha1.FaultValidators{Shard: ptr.To[int32](0)}, spec: v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPartition},
			told: map[string][]string{
				s0p0: {s1p0, s1p1, v0, r0}, s0p1: {s1p0, s1p1, v0, r0},
				s1p0: {s0p0, s0p1}, s1p1: {s0p0, s0p1}, v0: {s0p0, s0p1}, r0: {s0p0, s0p1},
			},
			each: cut,
		},
		"one, from a region": {
			of: first, spec: partition(v1alpha1.FaultValidators{Region: "west"}),
			told: map[string][]string{s0p0: {s0p1, s1p1}, s0p1: {s0p0}, s1p1: {s0p0}}, each: cut,
		},
		"one, from itself": {
			of: first, spec: partition(v1alpha1.FaultValidators{Shard: ptr.To[int32](0)}),
			refused: "spec.partition.from: validator net-s0-p0 is on both sides",
		},
		"one, from nobody": {
			of: first, spec: partition(v1alpha1.FaultValidators{Shard: ptr.To[int32](7)}),
			refused: "spec.partition.from: no validator of network net is of all that is said",
		},
		"a delay, also between those that have it": {
			of: v1alpha1.FaultValidators{Shard: ptr.To[int32](1)},
			spec: v1alpha1.FaultSpec{
				Action: v1alpha1.FaultActionDelay, Delay: &v1alpha1.DelayFault{Milliseconds: 70},
			},
			told: map[string][]string{
				s0p0: {s1p0, s1p1}, s0p1: {s1p0, s1p1}, s1p0: {s0p0, s0p1, s1p1, v0, r0}, s1p1: {s0p0, s0p1, s1p0, v0, r0},
				v0: {s1p0, s1p1}, r0: {s1p0, s1p1},
			},
			each: chain.LinkFault{Condition: chain.LinkWorse, DelayMilliseconds: 70},
		},
		"a loss": {
			of:   v1alpha1.FaultValidators{Names: []string{v0}},
			spec: v1alpha1.FaultSpec{Action: v1alpha1.FaultActionLoss, Loss: &v1alpha1.LossFault{BasisPoints: 300}},
			told: map[string][]string{
				s0p0: {v0}, s0p1: {v0}, s1p0: {v0}, s1p1: {v0}, v0: {s0p0, s0p1, s1p0, s1p1, r0}, r0: {v0},
			},
			each: chain.LinkFault{Condition: chain.LinkWorse, LossBasisPoints: 300},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := newPlan()
			plan.Nodes = append(plan.Nodes, topology.Validator{Name: r0, Region: "north", Role: topology.RoleRPC})
			scope, err := fault.Select(&test.of, plan)
			if err != nil {
				t.Fatal(err)
			}
			test.spec.DurationSeconds = 15
			orders, err := fault.Orders(&test.spec, scope, plan)
			if test.refused != "" {
				if err == nil || err.Error() != test.refused {
					t.Fatalf("the error is %v, want %s", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			told := map[string][]string{}
			for _, order := range orders {
				told[order.Node] = order.Links.Peers
				want := test.each
				want.Peers, want.DurationMilliseconds = order.Links.Peers, 15_000
				if order.Disk != nil || !reflect.DeepEqual(order.Links, &want) {
					t.Errorf("%s is told of %+v, want %+v", order.Node, order, want)
				}
			}
			if len(told) != len(orders) || len(told) != len(test.told) || len(told) > 0 && !reflect.DeepEqual(told, test.told) {
				t.Errorf("told are %v, want %v", told, test.told)
			}
			bothEnds(t, told)
		})
	}
}

// bothEnds checks that of each link both ends are told.
func bothEnds(t *testing.T, told map[string][]string) {
	t.Helper()
	ends := map[[2]string]bool{}
	for node, peers := range told {
		for _, peer := range peers {
			ends[[2]string{node, peer}] = true
		}
	}
	for link := range ends {
		if !ends[[2]string{link[1], link[0]}] {
			t.Errorf("%s is told of %s, which is not told of it", link[0], link[1])
		}
	}
}
