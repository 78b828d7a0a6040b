// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/api/v1alpha1"
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

// What an earlier network of the name has left runs that one's chain.
func TestPodsOfAnEarlierNetwork(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	network := &v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{UID: "now", CreationTimestamp: metav1.NewTime(made)}}
	ownedBy := func(kind string, uid types.UID) []metav1.OwnerReference {
		owner := &metav1.ObjectMeta{Name: "quickstart", UID: uid}
		return []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1alpha1.GroupVersion.WithKind(kind))}
	}
	set := func(uid types.UID, owners []metav1.OwnerReference) appsv1.StatefulSet {
		return appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{UID: uid, OwnerReferences: owners}}
	}
	s := &site{network: network}
	s.setUIDs = s.uidsOf(&appsv1.StatefulSetList{Items: []appsv1.StatefulSet{
		set("own", ownedBy("ShardNetwork", "now")), set("kept", nil), set("theirs", ownedBy("ShardNetwork", "before")),
	}})
	const before, after = -time.Minute, time.Minute
	cases := map[string]struct {
		owner types.UID
		age   time.Duration
		want  bool
	}{
		"of its own":                              {"own", after, false},
		"of a StatefulSet that it took over":      {"kept", before, false},
		"of a StatefulSet that goes":              {"theirs", before, true},
		"of a StatefulSet that is gone":           {"gone", before, true},
		"of one that it made, and is made anew":   {"gone", after, false},
		"without one, while that is made anew":    {"", before, false},
		"in the second that the network was made": {"gone", 0, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "quickstart-s0-p0-0", CreationTimestamp: metav1.NewTime(made.Add(test.age))}}
			if test.owner != "" {
				pod.OwnerReferences = ownedBy("StatefulSet", test.owner)
			}
			pods := s.podsOf(&corev1.PodList{Items: []corev1.Pod{pod}})
			if left := pods[pod.Name] == nil; left != test.want {
				t.Errorf("that it is of an earlier network is %t, want %t", left, test.want)
			}
		})
	}
}
