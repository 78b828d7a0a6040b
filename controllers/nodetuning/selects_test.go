// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

func TestSelects(t *testing.T) {
	t.Parallel()
	nodeTuning := &v1alpha1.NodeTuning{Spec: v1alpha1.NodeTuningSpec{
		NodeSelector: map[string]v1alpha1.LabelValue{"type": "large"},
		Tolerations:  []v1alpha1.Toleration{{Key: "mine", Operator: v1alpha1.TolerationExists}},
	}}
	for name, test := range map[string]struct {
		change func(*corev1.Node)
		want   bool
	}{
		"selected":          {func(*corev1.Node) {}, true},
		"another label":     {func(node *corev1.Node) { node.Labels["type"] = "small" }, false},
		"no label":          {func(node *corev1.Node) { delete(node.Labels, "type") }, false},
		"another system":    {func(node *corev1.Node) { node.Labels[corev1.LabelOSStable] = "windows" }, false},
		"tolerated taint":   {taint("mine", corev1.TaintEffectNoExecute), true},
		"foreign taint":     {taint("yours", corev1.TaintEffectNoSchedule), false},
		"taint that evicts": {taint("yours", corev1.TaintEffectNoExecute), false},
		"mild taint":        {taint("yours", corev1.TaintEffectPreferNoSchedule), true},
		"cordoned":          {taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule), true},
		"not ready":         {taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute), true},
		"not ready yet":     {taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"type": "large", corev1.LabelOSStable: "linux"}}}
			test.change(node)
			if got := selects(nodeTuning, node); got != test.want {
				t.Errorf("selected is %v, want %v", got, test.want)
			}
		})
	}
}

func taint(key string, effect corev1.TaintEffect) func(*corev1.Node) {
	return func(node *corev1.Node) { node.Spec.Taints = []corev1.Taint{{Key: key, Effect: effect}} }
}
