// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// network is a ShardNetwork of the cluster.
type network struct {
	*cluster
	namespace, name string
}

// network is the network of a name. When the test fails, it says how it was.
func (c *cluster) network(t *testing.T, namespace, name string) *network {
	t.Helper()
	n := &network{c, namespace, name}
	t.Cleanup(func() {
		if t.Failed() {
			n.show(t)
		}
	})
	return n
}

func (n *network) show(t *testing.T) {
	t.Helper()
	n.cluster.show(t, "--namespace", n.namespace, "describe", "shardnetwork", n.name)
	n.cluster.show(t, "--namespace", n.namespace, "get", "pods,pvc", "--output", "wide")
	n.cluster.show(t, "--namespace", n.namespace, "get", "events", "--sort-by", ".lastTimestamp")
	n.cluster.show(t, "--namespace", n.namespace, "logs", "--selector", resources.LabelNetwork+"="+n.name,
		"--prefix", "--tail", "20")
	n.showOperator(t)
}

func (n *network) read(ctx context.Context) (*v1alpha1.ShardNetwork, error) {
	live := &v1alpha1.ShardNetwork{}
	err := n.Get(ctx, client.ObjectKey{Namespace: n.namespace, Name: n.name}, live)
	return live, err
}

// mustRead reads the network as it is now.
func (n *network) mustRead(t *testing.T) *v1alpha1.ShardNetwork {
	t.Helper()
	live, err := n.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// finalized is the height of the last finalised block, as the status has it; 0
// before the first.
func (n *network) finalized(t *testing.T) uint64 {
	t.Helper()
	return uint64(ptr.Deref(n.mustRead(t).Status.FinalizedHeight, 0))
}

// plan is what the network's spec comes to.
func (n *network) plan(t *testing.T) *topology.Plan {
	t.Helper()
	plan, err := topology.New(n.mustRead(t))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// pods are those of the network, by name.
func (n *network) pods(ctx context.Context) (map[string]*corev1.Pod, error) {
	list := &corev1.PodList{}
	if err := n.List(ctx, list, client.InNamespace(n.namespace),
		client.MatchingLabels{resources.LabelNetwork: n.name}); err != nil {
		return nil, err
	}
	pods := make(map[string]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods[list.Items[i].Name] = &list.Items[i]
	}
	return pods, nil
}

func (n *network) mustPods(t *testing.T) map[string]*corev1.Pod {
	t.Helper()
	pods, err := n.pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

func ready(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

// waitFor waits until a condition about the present spec has a status and a
// reason, and returns it.
func (n *network) waitFor(t *testing.T, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	eventually(t, fmt.Sprintf("%s of %s to be %s by %s", kind, n.name, status, reason), func(ctx context.Context) error {
		live, err := n.read(ctx)
		if err != nil {
			return err
		}
		condition := meta.FindStatusCondition(live.Status.Conditions, kind)
		if condition == nil {
			return fmt.Errorf("there is none")
		}
		found = *condition
		if found.ObservedGeneration != live.Generation || found.Status != status || found.Reason != reason {
			return fmt.Errorf("it is %s by %s: %s", found.Status, found.Reason, found.Message)
		}
		return nil
	})
	return found
}

// api is a client of the HTTP API of a validator's node.
func (n *network) api(t *testing.T, validator string) *chain.Client {
	t.Helper()
	api := chain.NewClient(n.tunnel(t, n.namespace, resources.PodName(validator), n.plan(t).Ports.HTTP), chain.Admin{})
	t.Cleanup(api.Close)
	return api
}
