// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Only a StatefulSet that the cluster has taken up tells old pods from new.
func TestOutdated(t *testing.T) {
	t.Parallel()
	set := func(generation, observed int64, revision string) *appsv1.StatefulSet {
		return &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Generation: generation},
			Status:     appsv1.StatefulSetStatus{ObservedGeneration: observed, UpdateRevision: revision},
		}
	}
	pod := func(revision string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: revision},
		}}
	}
	cases := map[string]struct {
		set               *appsv1.StatefulSet
		pod               *corev1.Pod
		settled, outdated bool
	}{
		"no set":         {nil, pod("a"), false, false},
		"no pod":         {set(1, 1, "a"), nil, true, false},
		"new set":        {set(1, 0, ""), nil, false, false},
		"current":        {set(2, 2, "b"), pod("b"), true, false},
		"old":            {set(2, 2, "b"), pod("a"), true, true},
		"not taken up":   {set(2, 1, "a"), pod("a"), false, false},
		"without labels": {set(1, 1, "a"), &corev1.Pod{}, true, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := settled(test.set); got != test.settled {
				t.Errorf("the set is settled: %v, want %v", got, test.settled)
			}
			if got := outdated(test.set, test.pod); got != test.outdated {
				t.Errorf("the pod is outdated: %v, want %v", got, test.outdated)
			}
		})
	}
}
