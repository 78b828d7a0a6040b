// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// lifetime gives a network an end, and a disk that Stop needs.
func lifetime(seconds int32, action v1alpha1.LifetimeAction) func(*v1alpha1.ShardNetwork) {
	return func(network *v1alpha1.ShardNetwork) {
		network.Spec.Lifetime = &v1alpha1.LifetimeSpec{DurationSeconds: seconds, Action: action}
		if action == v1alpha1.LifetimeStop {
			network.Spec.Volume = &v1alpha1.VolumeSpec{}
			network.Spec.Volume.Size.Set(1 << 30)
		}
	}
}

// clientKey is the name of a network.
func clientKey(network *v1alpha1.ShardNetwork) types.NamespacedName {
	return client.ObjectKeyFromObject(network)
}

// until puts the clock to a time since the network's creation. Reconciling takes
// some more.
func (c *cluster) until(network *v1alpha1.ShardNetwork, age time.Duration) {
	c.clock = network.CreationTimestamp.Add(age - pollInterval)
}

// told checks that an event was made.
func (c *cluster) told(want string) {
	c.t.Helper()
	recorder := c.reconciler.recorder.(*events.FakeRecorder)
	var found []string
	for {
		select {
		case event := <-recorder.Events:
			found = append(found, event)
			continue
		default:
		}
		break
	}
	if !slices.ContainsFunc(found, func(event string) bool { return strings.HasPrefix(event, want) }) {
		c.t.Errorf("the events are\n%s\nwant one that begins with\n%s", strings.Join(found, "\n"), want)
	}
}

// checkReplicas checks those of all validators that a cluster holds.
func (c *cluster) checkReplicas(network *v1alpha1.ShardNetwork, validators int, want int32) {
	c.t.Helper()
	sets := 0
	for name, object := range c.objects(network.Name) {
		if set, ok := object.(*appsv1.StatefulSet); ok {
			sets++
			if *set.Spec.Replicas != want {
				c.t.Errorf("%s has %d replicas, want %d", name, *set.Spec.Replicas, want)
			}
		}
	}
	if sets != validators {
		c.t.Errorf("there are %d StatefulSets, want %d", sets, validators)
	}
}

// runPod makes a pod of a network: nothing else here does.
func (c *cluster) runPod(name, network string) *corev1.Pod {
	c.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: resources.NetworkLabels(network)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "shardnode", Image: "shardnode:test"}}},
	}
	if err := c.client.Create(c.t.Context(), pod); err != nil {
		c.t.Fatal(err)
	}
	return pod
}

func (c *cluster) remove(object client.Object) {
	c.t.Helper()
	if err := c.client.Delete(c.t.Context(), object, client.GracePeriodSeconds(0)); err != nil {
		c.t.Fatal(err)
	}
}

// A network stops on time, whatever became of the operator and of the network.
func TestLifetimeStops(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(lifetime(1000, v1alpha1.LifetimeStop))
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinLifetime, metav1.ConditionTrue, v1alpha1.ReasonLifetimeRunning)
	want := network.CreationTimestamp.Add(1000 * time.Second)
	if got := network.Status.EndTime; got == nil || !got.Time.Equal(want) {
		t.Errorf("the status says that the lifetime ends at %s, want %s", got, want)
	}

	cluster.until(network, 900*time.Second)
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinLifetime, metav1.ConditionTrue, v1alpha1.ReasonLifetimeEnding)
	cluster.told("Warning LifetimeEnding WithinLifetime: the network is stopped at ")
	cluster.checkReplicas(network, 4, 1)

	// One of the validators has a pod, and the network cannot be made any more.
	pod := cluster.runPod("quickstart-s0-p0-0", network.Name)
	cluster.remove(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart-genesis"}})
	cluster.restart()
	cluster.until(network, 1000*time.Second)
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinLifetime, metav1.ConditionFalse, v1alpha1.ReasonStopping)
	if network.Status.NodesReady != nil {
		t.Errorf("%d nodes are ready, but nobody knows of those that end", *network.Status.NodesReady)
	}
	cluster.checkReplicas(network, 4, 0)

	cluster.remove(pod)
	cluster.mustReconcile(network)
	cluster.told("Warning Stopped WithinLifetime: the lifetime of the network ended at ")
	checkStopped(t, network)
	before := cluster.writes.Load()
	for range 5 {
		cluster.mustReconcile(network)
	}
	if extra := cluster.writes.Load() - before; extra != 0 {
		t.Errorf("a stopped network took %d writes", extra)
	}
}

func checkStopped(t *testing.T, network *v1alpha1.ShardNetwork) {
	t.Helper()
	check(t, network, v1alpha1.ConditionWithinLifetime, metav1.ConditionFalse, v1alpha1.ReasonStopped)
	check(t, network, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStopped)
	check(t, network, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonStopped)
	check(t, network, v1alpha1.ConditionUpdated, metav1.ConditionUnknown, v1alpha1.ReasonStopped)
	status := network.Status
	if status.NodesReady == nil || *status.NodesReady != 0 || status.TransfersPerSecond != nil || status.Load != nil {
		t.Errorf("the network is stopped, but its status is %+v", status)
	}
}

// A stopped network goes on when it is given more time.
func TestLifetimeGoesOn(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(lifetime(1000, v1alpha1.LifetimeStop))
	cluster.mustReconcile(network)
	cluster.until(network, 1000*time.Second)
	cluster.mustReconcile(network)
	cluster.mustReconcile(network)
	checkStopped(t, network)
	cluster.checkReplicas(network, 4, 0)

	network.Spec.Lifetime.DurationSeconds = 10_000
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinLifetime, metav1.ConditionTrue, v1alpha1.ReasonLifetimeRunning)
	check(t, network, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStarting)
	cluster.checkReplicas(network, 4, 1)
}

// A network whose time was over before the operator saw it is not made first.
func TestLifetimeEndedUnseen(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(lifetime(60, v1alpha1.LifetimeStop))
	cluster.until(network, time.Hour)
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinLifetime, metav1.ConditionFalse, v1alpha1.ReasonStopped)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonObjectsPending)
	checkObjects(t, names(cluster.objects(network.Name)), nil)
}

func TestLifetimeDeletes(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(lifetime(1000, v1alpha1.LifetimeDelete))
	cluster.mustReconcile(network)
	cluster.until(network, 999*time.Second)
	cluster.mustReconcile(network)
	if network.DeletionTimestamp != nil {
		t.Fatal("the network is deleted before its end")
	}

	cluster.restart()
	cluster.until(network, 1000*time.Second)
	cluster.mustReconcile(network)
	// To be deleted makes another generation of it.
	network.Generation--
	check(t, network, v1alpha1.ConditionWithinLifetime, metav1.ConditionFalse, v1alpha1.ReasonLifetimeEnded)
	cluster.told("Warning LifetimeEnded WithinLifetime: the lifetime of the network ended at ")
	// It stays until the cluster has deleted what belongs to it.
	if network.DeletionTimestamp == nil || !slices.Contains(network.Finalizers, metav1.FinalizerDeleteDependents) {
		t.Errorf("the network is deleted at %v with the finalizers %v, want in the foreground", network.DeletionTimestamp, network.Finalizers)
	}
}

// Whoever gives a network more time in the last moment is not too late.
func TestLifetimeExtendedMeanwhile(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(lifetime(1000, v1alpha1.LifetimeDelete))
	cluster.mustReconcile(network)
	seen := network.DeepCopy()
	network.Spec.Lifetime.DurationSeconds = 2000
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.clock = network.CreationTimestamp.Add(1000 * time.Second)
	memory := cluster.reconciler.memories.of(clientKey(network), network.UID)
	if _, err := cluster.reconciler.run(t.Context(), seen, memory); !apierrors.IsConflict(err) {
		t.Errorf("to delete a network that has changed ends with %v, want a conflict", err)
	}
	cluster.read(network)
	if network.DeletionTimestamp != nil {
		t.Error("the network is deleted although its lifetime was extended")
	}
}
