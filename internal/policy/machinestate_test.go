// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
)

func TestMachineOf(t *testing.T) {
	t.Parallel()
	tainted := func(keys ...string) corev1.NodeSpec {
		var spec corev1.NodeSpec
		for _, key := range keys {
			spec.Taints = append(spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
		return spec
	}
	cases := map[string]struct {
		spec    corev1.NodeSpec
		leaving string
	}{
		"stays": {},
		// Cordoning taints as well, a moment later.
		"cordoned": {
			corev1.NodeSpec{Unschedulable: true, Taints: tainted(corev1.TaintNodeUnschedulable).Taints}, "is cordoned",
		},
		"is for validators":     {tainted("shardyard.dev/machine-type"), ""},
		"does not answer":       {tainted(corev1.TaintNodeUnreachable), ""},
		"a candidate":           {tainted("DeletionCandidateOfClusterAutoscaler"), ""},
		"scaled down":           {tainted("ToBeDeletedByClusterAutoscaler"), "has the taint ToBeDeletedByClusterAutoscaler"},
		"Karpenter's":           {tainted("other", "karpenter.sh/disrupted"), "has the taint karpenter.sh/disrupted"},
		"of an older Karpenter": {tainted("karpenter.sh/disruption"), "has the taint karpenter.sh/disruption"},
		"maintained by Google": {
			tainted("cloud.google.com/impending-node-termination"), "has the taint cloud.google.com/impending-node-termination",
		},
		"taken back by Amazon": {
			tainted("aws-node-termination-handler/spot-itn"), "has the taint aws-node-termination-handler/spot-itn",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machine := policy.MachineOf("machine-0", &corev1.Node{Spec: test.spec})
			if machine.Gone || machine.NotReady != nil || machine.Leaving != test.leaving {
				t.Errorf("the machine is %+v, want one that %q", machine, test.leaving)
			}
		})
	}
}

// What the cluster has of a pod is as it last was when its machine does not
// answer, unless the node itself does.
func TestNodesOfLostMachines(t *testing.T) {
	t.Parallel()
	gone := func(node *policy.Node) { node.Machine = policy.MachineOf("machine-0", nil) }
	unready := func(node *policy.Node) {
		silentMachine(node)
		node.Machine.NotReady.Status = corev1.ConditionFalse
	}
	cases := map[string]struct {
		lose    func(*policy.Node)
		answers bool
		running bool
	}{
		"silent":                   {silentMachine, false, false},
		"silent, the node answers": {silentMachine, true, true},
		"gone":                     {gone, false, false},
		"not ready, by its own":    {unready, false, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &healthy(t, 2, 2).Nodes[0]
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
	observation := healthy(t, 2, 2)
	silentMachine(&observation.Nodes[0])
	leaving(&observation.Nodes[0])
	checkCondition(t, policy.NodesReady(observation), "False", v1alpha1.ReasonMachineNotReady, "the machine machine-0 of quickstart-s0-p0")
}
