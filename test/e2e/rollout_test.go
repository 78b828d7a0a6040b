// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

const nextImage = "shardyard/shardnode:next"

// testRollout has every validator run another image. The producers of a shard
// take turns, and no shard falls silent.
func (n *network) testRollout(t *testing.T) {
	before := n.mustPods(t)
	witness, turns := n.watch(t), n.watchTurns(t)
	n.upgrade(t, "--set", "network.node.image="+nextImage)

	n.waitFor(t, v1alpha1.ConditionUpdated, metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	after := n.mustPods(t)
	for name, old := range before {
		pod := after[name]
		if pod == nil || pod.Spec.Containers[0].Image != nextImage {
			t.Errorf("%s does not run %s", name, nextImage)
			continue
		}
		if id := pod.Status.ContainerStatuses[0].ImageID; id == old.Status.ContainerStatuses[0].ImageID {
			t.Errorf("%s still runs %s", name, id)
		}
	}
	turns.check(t)
	witness.check(t)
}

// turns watches the pods of a network for shards that have more than one
// producer away at a time.
type turns struct {
	events    watch.Interface
	stopping  atomic.Bool
	ended     chan struct{}
	violation error
	replaced  int
}

// watchTurns begins to watch a network whose pods are all ready.
func (n *network) watchTurns(t *testing.T) *turns {
	t.Helper()
	events, err := n.Watch(t.Context(), &corev1.PodList{}, client.InNamespace(n.namespace),
		client.MatchingLabels{resources.LabelNetwork: n.name})
	if err != nil {
		t.Fatal(err)
	}
	watched := &turns{events: events, ended: make(chan struct{})}
	t.Cleanup(watched.stop)
	// By shard, the pods that are ready or not.
	shards := map[string]map[string]bool{}
	for name, pod := range n.mustPods(t) {
		shard := pod.Labels[resources.LabelShard]
		if shards[shard] == nil {
			shards[shard] = map[string]bool{}
		}
		shards[shard][name] = true
	}
	go func() {
		defer close(watched.ended)
		for event := range events.ResultChan() {
			watched.see(event, shards)
		}
	}()
	return watched
}

func (w *turns) see(event watch.Event, shards map[string]map[string]bool) {
	pod, isPod := event.Object.(*corev1.Pod)
	if !isPod {
		if !w.stopping.Load() {
			w.violation = fmt.Errorf("the watch ended: %v", event.Object)
		}
		return
	}
	if event.Type == watch.Deleted {
		w.replaced++
	}
	producers := shards[pod.Labels[resources.LabelShard]]
	producers[pod.Name] = event.Type != watch.Deleted && ready(pod)
	var away []string
	for _, name := range slices.Sorted(maps.Keys(producers)) {
		if !producers[name] {
			away = append(away, name)
		}
	}
	if len(away) > 1 {
		w.violation = fmt.Errorf("%s are away at the same time", strings.Join(away, " and "))
	}
}

// stop ends the watch.
func (w *turns) stop() {
	w.stopping.Store(true)
	w.events.Stop()
	<-w.ended
}

// check ends the watch and says what it saw.
func (w *turns) check(t *testing.T) {
	t.Helper()
	w.stop()
	if w.violation != nil {
		t.Error(w.violation)
	}
	if w.replaced == 0 {
		t.Error("no pod was replaced")
	}
}
