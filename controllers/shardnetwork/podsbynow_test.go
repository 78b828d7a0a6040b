// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
)

// keepPods has the operator's cache have the pods as they are, whatever becomes of them.
func (c *cluster) keepPods() {
	c.t.Helper()
	kept := &corev1.PodList{}
	if err := c.client.List(c.t.Context(), kept, client.InNamespace(c.namespace)); err != nil {
		c.t.Fatal(err)
	}
	c.reconciler.client = interceptor.NewClient(c.reconciler.client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if read, ok := list.(*corev1.PodList); ok {
				kept.DeepCopyInto(read)
				return nil
			}
			return next.List(ctx, list, options...)
		},
	})
}

// Both producers of a shard are on machines that are drained. That the first was let go,
// the cache has yet to hear.
func TestDrainThatTheCacheLacks(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	pods.reconcile()
	pods.cordon(1, true)
	cluster.keepPods()
	pods.reconcile()
	pods.checkLetGo(1)
	pods.cordon(0, true)
	pods.reconcile()
	pods.checkLetGo(1)
	check(t, network, v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDraining)

	// It is gone by now, and then another one is there that nobody has asked yet.
	pods.end(1)
	pods.cordon(1, false)
	pods.reconcile()
	pods.start(1)
	pods.reconcile()
	pods.checkLetGo()
	check(t, network, v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
}

// One producer of a shard was let go, its machine is kept after all, and the other one is
// to be replaced. The cache has yet to hear that the first may go at any time.
func TestRolloutBesideADrainThatTheCacheLacks(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	pods.reconcile()
	pods.cordon(0, true)
	cluster.keepPods()
	pods.reconcile()
	pods.checkLetGo(0)
	pods.cordon(0, false)
	pods.outdate(1)
	pods.reconcile()
	pods.checkLetGo(0)
	check(t, network, v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonWaiting)
	if pod := pods.pod(1); pod.DeletionTimestamp != nil {
		t.Errorf("%s goes while the other one of its shard may", pod.Name)
	}
}

// Of a pod that is another one than was looked at, nothing is said that the other one's
// node said.
func TestPodByNow(t *testing.T) {
	t.Parallel()
	pod := func(uid, version string, labels map[string]string) *corev1.Pod {
		made := &corev1.Pod{}
		made.UID, made.ResourceVersion, made.Labels = types.UID(uid), version, labels
		return made
	}
	on := func(machine string, made *corev1.Pod) *corev1.Pod {
		made.Spec.NodeName = machine
		return made
	}
	allowed := map[string]string{resources.LabelEviction: resources.EvictionAllowed}
	cases := map[string]struct {
		before, now          *corev1.Pod
		changed, letGo, told bool
	}{
		"the same":          {pod("a", "1", nil), pod("a", "1", nil), false, false, true},
		"it may be evicted": {pod("a", "1", nil), pod("a", "2", allowed), true, true, true},
		"it is held again":  {pod("a", "1", allowed), pod("a", "2", nil), true, false, true},
		"a machine took it": {pod("a", "1", nil), on("there", pod("a", "2", nil)), true, false, true},
		"another":           {pod("a", "1", nil), pod("b", "2", nil), true, false, false},
		"gone":              {pod("a", "1", allowed), nil, true, false, false},
		"there is one now":  {nil, pod("b", "2", nil), true, false, false},
		"there is none":     {nil, nil, false, false, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			moved := test.before != nil && test.now != nil && test.before.Spec.NodeName != test.now.Spec.NodeName
			node := &observed.Node{
				Pod: test.before, LetGo: letGo(test.before), Outdated: true,
				Status: &chain.Status{}, LostDisk: &observed.LostDisk{}, Machine: &observed.Machine{Leaving: "is cordoned"},
			}
			if got := renew(node, test.now); got != test.changed {
				t.Errorf("that it changed is %t, want %t", got, test.changed)
			}
			if node.Pod != test.now || node.LetGo != test.letGo {
				t.Errorf("the node is %+v", node)
			}
			if (node.Status != nil) != test.told || (node.LostDisk != nil) != test.told || node.Outdated != test.told {
				t.Errorf("that what was seen of the pod before counts is not %t: %+v", test.told, node)
			}
			if there := test.told && !moved; (node.Machine != nil) != there {
				t.Errorf("that the pod is still on its machine is not %t: %+v", there, node)
			}
		})
	}
}

// Where the pods cannot be read, nobody goes; who is to stay is held, and one question is
// enough for a run.
func TestPodsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.RPCNodes, network.Spec.Regions[0].Nodes = 1, 5
	})
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	pods.cordon(0, true)
	pods.reconcile()
	pods.checkLetGo(0)
	pods.cordon(0, false)
	pods.cordon(4, true)
	pods.outdate(4)
	lists := 0
	refused := errors.New("refused")
	readable := cluster.reconciler.reader
	cluster.reconciler.reader = interceptor.NewClient(readable.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*corev1.PodList); ok {
				lists++
				return refused
			}
			return next.List(ctx, list, options...)
		},
	})
	pods.finalize(cluster.clock)
	if err := cluster.reconcile(network); !errors.Is(err, refused) || lists != 1 {
		t.Errorf("the pods were asked for %d times, want once, and the error is %v", lists, err)
	}
	pods.checkLetGo()
	if pod := pods.pod(4); pod.DeletionTimestamp != nil {
		t.Errorf("%s goes unseen", pod.Name)
	}
	cluster.reconciler.reader = readable
	pods.reconcile()
	pods.checkLetGo(4)
}
