// SPDX-License-Identifier: Apache-2.0

package diagnosis_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/test/networks"
)

// What the cluster has of a pod is as it last was when its machine does not
// answer, unless the node itself does.
func TestNodesOfLostMachines(t *testing.T) {
	t.Parallel()
	gone := func(node *observed.Node) { node.Machine = observed.MachineOf("machine-0", nil) }
	unready := func(node *observed.Node) {
		networks.SilentMachine(node)
		node.Machine.NotReady.Status = corev1.ConditionFalse
	}
	cases := map[string]struct {
		lose    func(*observed.Node)
		answers bool
		running bool
	}{
		"silent":                   {networks.SilentMachine, false, false},
		"silent, the node answers": {networks.SilentMachine, true, true},
		"gone":                     {gone, false, false},
		"not ready, by its own":    {unready, false, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &networks.Healthy(t, 2, 2).Nodes[0]
			status := node.Status
			test.lose(node)
			node.Pod.Status.Conditions[0].Status = corev1.ConditionTrue
			if node.Status = nil; test.answers {
				node.Status = status
			}
			if node.Running() != test.running || node.Ready() != test.running {
				t.Errorf("the node runs: %v, takes part: %v, want %v", node.Running(), node.Ready(), test.running)
			}
		})
	}
}

// A pod that is deleted on a machine that does not answer stays until the machine
// is back or gone: nothing is about to replace it.
func TestLostMachinesComeBeforeLeavingPods(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.SilentMachine(&observation.Nodes[0])
	networks.Leaving(&observation.Nodes[0])
	networks.CheckCondition(t, diagnosis.NodesReady(observation), "False", v1alpha1.ReasonMachineNotReady,
		"the machine machine-0 of quickstart-s0-p0")
}
