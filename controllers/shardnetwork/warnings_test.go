// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/topology"
)

func TestExplains(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	run := &run{Reconciler: &Reconciler{now: func() time.Time { return now }}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "present"}}
	event := func(of types.UID, age time.Duration) *corev1.Event {
		return &corev1.Event{
			Type:           corev1.EventTypeWarning,
			InvolvedObject: corev1.ObjectReference{UID: of},
			LastTimestamp:  metav1.NewTime(now.Add(-age)),
		}
	}
	cases := map[string]struct {
		event *corev1.Event
		pod   *corev1.Pod
		want  bool
	}{
		"present pod, old":  {event("present", time.Hour), pod, true},
		"earlier pod":       {event("earlier", time.Second), pod, true},
		"earlier pod, old":  {event("earlier", time.Minute), pod, false},
		"no pod now":        {event("earlier", time.Second), nil, true},
		"no pod since long": {event("earlier", time.Hour), nil, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := run.explains(test.event, test.pod); got != test.want {
				t.Errorf("the event explains: %v, want %v", got, test.want)
			}
		})
	}
}

// One look finds the warnings about all nodes, page by page, and nothing else counts.
func TestReadWarnings(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	for i, event := range []corev1.Event{
		{Type: corev1.EventTypeWarning, InvolvedObject: corev1.ObjectReference{Name: "another"}, Message: "quota exceeded: forbidden"},
		{Type: corev1.EventTypeNormal, InvolvedObject: corev1.ObjectReference{Name: "quickstart-s0-p0"}, Message: "not forbidden"},
		{Type: corev1.EventTypeWarning, InvolvedObject: corev1.ObjectReference{Name: "quickstart-s1-p1"}, Message: "quota of 3 pods: forbidden"},
	} {
		event.ObjectMeta = metav1.ObjectMeta{Namespace: cluster.namespace, Name: fmt.Sprintf("event-%d", i)}
		event.InvolvedObject.Namespace = cluster.namespace
		event.Reason = "FailedCreate"
		event.LastTimestamp = metav1.NewTime(cluster.clock)
		if err := cluster.client.Create(t.Context(), &event); err != nil {
			t.Fatal(err)
		}
	}

	lists := 0
	direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	cluster.reconciler.reader = interceptor.NewClient(direct, interceptor.Funcs{
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*corev1.EventList); !ok {
				return next.List(ctx, list, options...)
			}
			given := (&client.ListOptions{}).ApplyOptions(options)
			if given.Continue == "" {
				lists++
			}
			if given.Limit == 0 {
				t.Error("all events of the namespace are read at once")
			}
			return next.List(ctx, list, append(options, client.Limit(1))...)
		},
	})
	cluster.mustReconcile(network)
	message := check(t, network, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonPodForbidden)
	if !strings.Contains(message, "the cluster refuses the pod of quickstart-s1-p1: FailedCreate: quota of 3 pods: forbidden") {
		t.Errorf("the message is %q, want the warning about quickstart-s1-p1", message)
	}
	if lists != 1 {
		t.Errorf("events were listed %d times, want once for all nodes", lists)
	}
	for range 24 {
		cluster.mustReconcile(network)
	}
	if lists != 5 {
		t.Errorf("events were listed %d times in two minutes, want fewer and fewer, 5", lists)
	}
}

// Of nodes that stay as they are the cluster is asked less and less, and soon again once
// there is another.
func TestWarningLooks(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	node := func(name string) *observed.Node { return &observed.Node{Validator: topology.Validator{Name: name}} }
	var (
		looks  warningLooks
		silent = []*observed.Node{node("a")}
		seen   []int
	)
	for second := range 200 {
		if second == 120 {
			silent = append(silent, node("b"))
		}
		if now := start.Add(time.Duration(second) * time.Second); looks.due(now, silent) {
			looks.done(now, silent)
			seen = append(seen, second)
		}
	}
	if want := []int{0, 5, 15, 35, 75, 115, 120, 125, 135, 155, 195}; !slices.Equal(seen, want) {
		t.Errorf("it was asked at %d, want %d", seen, want)
	}
}

// The old kind of event, the new kind, one that is repeated, and one that says
// nothing but when it was made.
func TestEventTime(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	last := first.Add(time.Minute)
	cases := map[string]struct {
		event corev1.Event
		want  time.Time
	}{
		"old": {corev1.Event{FirstTimestamp: metav1.NewTime(first), LastTimestamp: metav1.NewTime(last)}, last},
		"new": {corev1.Event{EventTime: metav1.NewMicroTime(first)}, first},
		"repeated": {corev1.Event{
			EventTime: metav1.NewMicroTime(first), Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(last)},
		}, last},
		"made": {corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(first)}}, first},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := eventTime(&test.event); !got.Equal(test.want) {
				t.Errorf("the time is %s, want %s", got, test.want)
			}
		})
	}
}

// Events cost a request: only nodes without a running pod are worth it.
func TestNeedsExplanation(t *testing.T) {
	t.Parallel()
	for phase, want := range map[corev1.PodPhase]bool{
		corev1.PodPending: true,
		corev1.PodFailed:  true,
		corev1.PodRunning: false,
	} {
		node := &observed.Node{Pod: &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}}
		if got := needsExplanation(node); got != want {
			t.Errorf("a %s pod needs an explanation: %v, want %v", phase, got, want)
		}
	}
	if !needsExplanation(&observed.Node{}) {
		t.Error("a node without a pod needs no explanation")
	}
}
