// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
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
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
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
	watches []watch.Interface
	group   sync.WaitGroup

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
		events, err := watching.Watch(t.Context(), &corev1.PodList{}, client.MatchingLabels{resources.LabelNetwork: "run"})
		if err != nil {
			t.Fatal(err)
		}
		a.watches = append(a.watches, events)
		a.group.Go(func() {
			for event := range events.ResultChan() {
				if pod, ok := event.Object.(*corev1.Pod); ok {
					a.see(pod, event.Type != watch.Deleted && takesPart(pod))
				}
			}
		})
	}
	return a
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
	for _, events := range a.watches {
		events.Stop()
	}
	a.group.Wait()
	return a.most, a.violation
}
