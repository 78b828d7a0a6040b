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
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/resources"
)

// turns watches the pods of a network for shards that have more than one
// producer at a time that does not run.
type turns struct {
	events    watch.Interface
	stopping  atomic.Bool
	ended     chan struct{}
	violation error
}

// watchTurns begins to watch a network whose pods all run.
func (n *network) watchTurns(t *testing.T) *turns {
	t.Helper()
	events, err := n.Watch(t.Context(), &corev1.PodList{}, client.InNamespace(n.namespace),
		client.MatchingLabels{resources.LabelNetwork: n.name})
	if err != nil {
		t.Fatal(err)
	}
	watched := &turns{events: events, ended: make(chan struct{})}
	t.Cleanup(watched.stop)
	// By shard, the pods that run or do not.
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
	producers := shards[pod.Labels[resources.LabelShard]]
	producers[pod.Name] = event.Type != watch.Deleted && runs(pod)
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

// runs says whether a pod's node runs, whether or not it takes part in the chain.
func runs(pod *corev1.Pod) bool {
	statuses := pod.Status.ContainerStatuses
	return pod.DeletionTimestamp == nil && len(statuses) > 0 && statuses[0].State.Running != nil
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
}
