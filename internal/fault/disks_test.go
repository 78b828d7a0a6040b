// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"reflect"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
)

// Of a fault of disks, those that have it are told, and nobody else.
func TestDiskOrders(t *testing.T) {
	t.Parallel()
	plan := newPlan()
	scope, err := fault.Select(&v1alpha1.FaultValidators{Shard: ptr.To[int32](1)}, plan)
	if err != nil {
		t.Fatal(err)
	}
	told := func(order chain.DiskFault) []fault.Order {
		return []fault.Order{{Node: "net-s1-p0", Disk: &order}, {Node: "net-s1-p1", Disk: &order}}
	}
	for _, test := range []struct {
		spec v1alpha1.FaultSpec
		want chain.DiskFault
	}{
		{
			v1alpha1.FaultSpec{Action: v1alpha1.FaultActionSlowDisk, SlowDisk: &v1alpha1.SlowDiskFault{Milliseconds: 40}},
			chain.DiskFault{Condition: chain.DiskSlow, DelayMilliseconds: 40, DurationMilliseconds: 15_000},
		},
		{
			v1alpha1.FaultSpec{Action: v1alpha1.FaultActionFullDisk},
			chain.DiskFault{Condition: chain.DiskFull, DurationMilliseconds: 15_000},
		},
	} {
		test.spec.DurationSeconds = 15
		orders, err := fault.Orders(&test.spec, scope, plan)
		if err != nil {
			t.Fatal(err)
		}
		if want := told(test.want); !reflect.DeepEqual(orders, want) {
			t.Errorf("of %s, told are %+v, want %+v", test.spec.Action, orders, want)
		}
	}
}

// A node shows a fault by the part of it that has one, and none by another.
func TestShows(t *testing.T) {
	t.Parallel()
	links, disk := chain.Status{FaultyLinks: 1}, chain.Status{DiskFault: ptr.To(chain.DiskSlow)}
	for action, want := range map[v1alpha1.FaultAction][2]bool{
		v1alpha1.FaultActionKill: {}, v1alpha1.FaultActionPause: {},
		v1alpha1.FaultActionPartition: {true, false}, v1alpha1.FaultActionDelay: {true, false}, v1alpha1.FaultActionLoss: {true, false},
		v1alpha1.FaultActionSlowDisk: {false, true}, v1alpha1.FaultActionFullDisk: {false, true},
	} {
		if got := [2]bool{fault.Shows(action, &links), fault.Shows(action, &disk)}; got != want || fault.Shows(action, &chain.Status{}) {
			t.Errorf("%s is shown by a fault of links and of the disk: %v, want %v", action, got, want)
		}
	}
}
