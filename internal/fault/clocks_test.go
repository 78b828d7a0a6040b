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

// Of a fault of clocks, those that have it are told, and nobody else.
func TestClockOrders(t *testing.T) {
	t.Parallel()
	plan := newPlan()
	scope, err := fault.Select(&v1alpha1.FaultValidators{Shard: ptr.To[int32](1)}, plan)
	if err != nil {
		t.Fatal(err)
	}
	orders, err := fault.Orders(&v1alpha1.FaultSpec{
		Action: v1alpha1.FaultActionWrongClock, WrongClock: &v1alpha1.WrongClockFault{OffsetMilliseconds: -2500}, DurationSeconds: 15,
	}, scope, plan)
	if err != nil {
		t.Fatal(err)
	}
	behind := &chain.ClockFault{OffsetMilliseconds: -2500, DurationMilliseconds: 15_000}
	if want := []fault.Order{{Node: "net-s1-p0", Clock: behind}, {Node: "net-s1-p1", Clock: behind}}; !reflect.DeepEqual(orders, want) {
		t.Errorf("told are %+v, want %+v", orders, want)
	}
}
