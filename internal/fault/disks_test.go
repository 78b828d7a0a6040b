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
