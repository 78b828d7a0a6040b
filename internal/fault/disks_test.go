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
	orders, err := fault.Orders(&v1alpha1.FaultSpec{
		Action: v1alpha1.FaultActionSlowDisk, SlowDisk: &v1alpha1.SlowDiskFault{Milliseconds: 40}, DurationSeconds: 15,
	}, scope, plan)
	if err != nil {
		t.Fatal(err)
	}
	slow := &chain.DiskFault{Condition: chain.DiskSlow, DelayMilliseconds: 40, DurationMilliseconds: 15_000}
	if want := []fault.Order{{Node: "net-s1-p0", Disk: slow}, {Node: "net-s1-p1", Disk: slow}}; !reflect.DeepEqual(orders, want) {
		t.Errorf("told are %+v, want %+v", orders, want)
	}
}

// A node shows a fault by the part of it that has one, and none by another.
func TestShows(t *testing.T) {
	t.Parallel()
	links, disk := chain.Status{FaultyLinks: 1}, chain.Status{DiskFault: ptr.To(chain.DiskSlow)}
	for action, want := range map[v1alpha1.FaultAction][2]bool{
		v1alpha1.FaultActionKill: {}, v1alpha1.FaultActionPause: {},
		v1alpha1.FaultActionPartition: {true, false}, v1alpha1.FaultActionDelay: {true, false}, v1alpha1.FaultActionLoss: {true, false},
		v1alpha1.FaultActionSlowDisk: {false, true},
	} {
		if got := [2]bool{fault.Shows(action, &links), fault.Shows(action, &disk)}; got != want || fault.Shows(action, &chain.Status{}) {
			t.Errorf("%s is shown by a fault of links and of the disk: %v, want %v", action, got, want)
		}
	}
}
