// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"reflect"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
)

// In a pod, a node keeps every fault itself but for a kill after which it is started
// again at once.
func TestOrdersInPods(t *testing.T) {
	t.Parallel()
	plan := newPlan()
	killed := func(restart v1alpha1.FaultRestart) v1alpha1.FaultSpec {
		return v1alpha1.FaultSpec{Action: v1alpha1.FaultActionKill, Kill: &v1alpha1.KillFault{Restart: restart}}
	}
	cases := map[string]struct {
		spec v1alpha1.FaultSpec
		part fault.Part
		want *chain.ProcessFault
	}{
		"pause": {
			v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPause},
			fault.Process,
			&chain.ProcessFault{Condition: chain.ProcessPaused, DurationMilliseconds: 30_000},
		},
		"kill for a time": {
			killed(v1alpha1.FaultRestartAfterDuration), fault.Process,
			&chain.ProcessFault{Condition: chain.ProcessGone, DurationMilliseconds: 30_000},
		},
		"kill": {killed(v1alpha1.FaultRestartAtOnce), "", nil},
		"another program": {
			v1alpha1.FaultSpec{
				Action:    v1alpha1.FaultActionByzantine,
				Byzantine: &v1alpha1.ByzantineFault{Program: "liar", Arguments: []string{"--lie"}},
			},
			fault.Process,
			&chain.ProcessFault{
				Condition: chain.ProcessReplaced, Program: "liar", Arguments: []string{"--lie"}, DurationMilliseconds: 30_000,
			},
		},
		"disk": {v1alpha1.FaultSpec{Action: v1alpha1.FaultActionFullDisk}, fault.Disk, nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := test.spec
			spec.DurationSeconds = 30
			scope := plan.Nodes[:2]
			if part := fault.PartInPod(&spec); part != test.part {
				t.Errorf("it is of %q, want %q", part, test.part)
			}
			orders, err := fault.OrdersInPods(&spec, scope, plan)
			if err != nil {
				t.Fatal(err)
			}
			if told := len(orders); told != 0 && told != len(scope) || (told > 0) != (test.part != "") {
				t.Fatalf("%d nodes are told", told)
			}
			for i, order := range orders {
				if order.Node != scope[i].Name || !reflect.DeepEqual(order.Process, test.want) {
					t.Errorf("%s is told %+v, want %+v", order.Node, order.Process, test.want)
				}
			}
		})
	}
}
