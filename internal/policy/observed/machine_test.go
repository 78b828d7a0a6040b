// SPDX-License-Identifier: Apache-2.0

package observed_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/internal/policy/observed"
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
			machine := observed.MachineOf("machine-0", &corev1.Node{Spec: test.spec})
			if machine.Gone || machine.NotReady != nil || machine.Leaving != test.leaving {
				t.Errorf("the machine is %+v, want one that %q", machine, test.leaving)
			}
		})
	}
}
