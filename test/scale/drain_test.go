// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/resources"
)

// mostAway is how many of 140 producers may be away on purpose: half of what
// consensus can do without.
const mostAway = 23

// drain drains all machines of two clusters at once, as when both are upgraded: a
// machine that is empty comes back. No shard is without both of its producers,
// and consensus keeps its quorum, though each cluster knows only its own.
func (f *fleet) drain(t *testing.T) {
	began := time.Now()
	away := f.watchAway(t)
	evicted := 0
	var group sync.WaitGroup
	failures := make(chan error, len(f.clusters()))
	for name, cluster := range f.clusters() {
		if name == "us-east4" {
			continue
		}
		evicted += machinesOf[name]
		group.Go(func() { failures <- cluster.drain(t.Context()) })
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Fatal(err)
		}
	}
	f.becomesReady(t)
	f.check(t)
	most, violation := away.stop()
	if violation != nil {
		t.Error(violation)
	}
	t.Logf("%d validators left their machines within %s, at most %d of them away at a time",
		evicted, time.Since(began).Round(time.Second), most)
}

// drain cordons all machines and evicts their validators, again and again until
// each was.
func (c *cluster) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.MatchingLabels{resources.LabelNetwork: "run"}); err != nil {
		return err
	}
	for i := range pods.Items {
		if err := c.cordon(ctx, pods.Items[i].Spec.NodeName, true); err != nil {
			return err
		}
	}
	left := pods.Items
	for len(left) > 0 {
		var held []corev1.Pod
		for i := range left {
			pod := &left[i]
			eviction := &policyv1.Eviction{DeleteOptions: metav1.NewPreconditionDeleteOptions(string(pod.UID))}
			err := c.SubResource("eviction").Create(ctx, pod, eviction)
			switch {
			case apierrors.IsTooManyRequests(err):
				held = append(held, *pod)
			case err != nil:
				return fmt.Errorf("evict %s: %w", pod.Name, err)
			default:
				if err := c.cordon(ctx, pod.Spec.NodeName, false); err != nil {
					return err
				}
			}
		}
		left = held
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return fmt.Errorf("%d pods are held: %w", len(left), ctx.Err())
		}
	}
	return nil
}

// cordon has the scheduler leave a machine out, or not any more.
func (c *cluster) cordon(ctx context.Context, machine string, cordoned bool) error {
	node := &corev1.Node{}
	node.Name = machine
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, cordoned))
	return c.Patch(ctx, node, patch)
}

// away watches which producers of all clusters do not take part, or may be
// evicted.
type away struct {
	watches  []watch.Interface
	group    sync.WaitGroup
	stopping atomic.Bool

	lock      sync.Mutex
	producers map[string]bool
	shards    map[string]int
	most      int
	violation error
}

// watchAway begins to watch a network whose pods are all ready.
func (f *fleet) watchAway(t *testing.T) *away {
	t.Helper()
	a := &away{producers: map[string]bool{}, shards: map[string]int{}}
	t.Cleanup(func() { _, _ = a.stop() })
	for _, cluster := range f.clusters() {
		watching, err := client.NewWithWatch(cluster.config, client.Options{Scheme: cluster.Scheme()})
		if err != nil {
			t.Fatal(err)
		}
		ours := client.MatchingLabels{resources.LabelNetwork: "run"}
		pods := &corev1.PodList{}
		if err := watching.List(t.Context(), pods, ours); err != nil {
			t.Fatal(err)
		}
		for i := range pods.Items {
			a.see(&pods.Items[i], takesPart(&pods.Items[i]))
		}
		// The API server ends a watch that is slow to be read: it goes on where it was.
		events, err := watchtools.NewRetryWatcherWithContext(t.Context(), pods.ResourceVersion, &cache.ListWatch{
			WatchFuncWithContext: func(ctx context.Context, from metav1.ListOptions) (watch.Interface, error) {
				return watching.Watch(ctx, &corev1.PodList{}, &client.ListOptions{Raw: &from}, ours)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		a.watches = append(a.watches, events)
		a.group.Go(func() { a.follow(events) })
	}
	return a
}

// follow sees what a watch tells until it is stopped. One that ends before, and so would
// tell of nothing any more, should not.
func (a *away) follow(events watch.Interface) {
	var last any
	for event := range events.ResultChan() {
		last = event.Object
		if pod, ok := event.Object.(*corev1.Pod); ok {
			a.see(pod, event.Type != watch.Deleted && takesPart(pod))
		}
	}
	if a.stopping.Load() {
		return
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.violation == nil {
		a.violation = fmt.Errorf("the watch ended: %v", last)
	}
}

// takesPart says whether a producer is ready and stays.
func takesPart(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Labels[resources.LabelEviction] == resources.EvictionAllowed {
		return false
	}
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return pod.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}

func (a *away) see(pod *corev1.Pod, takesPart bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.producers[pod.Name] == !takesPart {
		return
	}
	shard := pod.Labels[resources.LabelShard]
	if takesPart {
		delete(a.producers, pod.Name)
		a.shards[shard]--
		return
	}
	a.producers[pod.Name] = true
	a.shards[shard]++
	a.most = max(a.most, len(a.producers))
	switch {
	case a.violation != nil:
	case a.shards[shard] > 1:
		a.violation = fmt.Errorf("both producers of shard %s are away at a time", shard)
	case len(a.producers) > mostAway:
		a.violation = fmt.Errorf("%d producers are away at a time, want at most %d", len(a.producers), mostAway)
	}
}

// stop ends the watch and returns what it saw: the most that were away, and what
// should not have been.
func (a *away) stop() (most int, violation error) {
	a.stopping.Store(true)
	for _, events := range a.watches {
		events.Stop()
	}
	a.group.Wait()
	return a.most, a.violation
}
