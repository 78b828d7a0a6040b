// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// nodeTimeout bounds how long one node keeps a reconciliation waiting.
	nodeTimeout = 2 * time.Second
	// parallelNodes is how many nodes are asked at a time.
	parallelNodes = 32
)

// observe looks at every node of the plan: its StatefulSet and pod in the
// cluster, and what it says itself.
func (r *run) observe(ctx context.Context) error {
	sets := &appsv1.StatefulSetList{}
	pods := &corev1.PodList{}
	for _, list := range []client.ObjectList{sets, pods} {
		if err := r.client.List(ctx, list, client.InNamespace(r.network.Namespace),
			client.MatchingLabels{resources.LabelNetwork: r.network.Name}); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
	}
	setOf := make(map[string]*appsv1.StatefulSet, len(sets.Items))
	for i := range sets.Items {
		setOf[sets.Items[i].Name] = &sets.Items[i]
	}
	podOf := make(map[string]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		podOf[pods.Items[i].Name] = &pods.Items[i]
	}

	r.observation = &policy.Observation{Network: r.network, Plan: r.plan, Unapplied: !r.applied, Settling: r.settling, Now: r.now()}
	for _, validator := range r.plan.Validators {
		set, pod := setOf[validator.Name], podOf[resources.PodName(validator.Name)]
		r.observation.Settling = r.observation.Settling || !settled(set)
		r.observation.Nodes = append(r.observation.Nodes, policy.Node{
			Validator: validator,
			Pod:       pod,
			Outdated:  outdated(set, pod),
		})
	}
	r.askNodes(ctx)
	return r.readWarnings(ctx)
}

// settled says whether the cluster has taken up the latest StatefulSet.
func settled(set *appsv1.StatefulSet) bool {
	return set != nil && set.Status.ObservedGeneration >= set.Generation && set.Status.UpdateRevision != ""
}

// outdated says whether a pod was made from an earlier StatefulSet.
func outdated(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	return pod != nil && settled(set) &&
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] != set.Status.UpdateRevision
}

// askNodes asks every node that has an address for its status, and those that
// are not ready why. A node that does not answer is an observation, no error.
func (r *run) askNodes(ctx context.Context) {
	used := map[nodeKey]bool{}
	var group errgroup.Group
	group.SetLimit(parallelNodes)
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		if node.Pod == nil || node.Pod.Status.PodIP == "" || node.Pod.Status.Phase != corev1.PodRunning {
			continue
		}
		address := r.apiAddress(node)
		used[nodeKey{address, r.adminToken}] = true
		api := r.nodeClient(address)
		group.Go(func() error {
			ask(ctx, api, node)
			return nil
		})
	}
	_ = group.Wait()

	for key, api := range r.memory.nodes {
		if !used[key] {
			api.Close()
			delete(r.memory.nodes, key)
		}
	}
}

// apiAddress is where a node with a running pod serves its HTTP API.
func (r *run) apiAddress(node *policy.Node) string {
	return net.JoinHostPort(node.Pod.Status.PodIP, strconv.Itoa(r.plan.Ports.HTTP))
}

func (r *run) nodeClient(address string) *chain.Client {
	key := nodeKey{address, r.adminToken}
	api, ok := r.memory.nodes[key]
	if !ok {
		api = chain.NewClient(address, r.adminToken)
		r.memory.nodes[key] = api
	}
	return api
}

func ask(ctx context.Context, api *chain.Client, node *policy.Node) {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	status, err := api.Status(ctx)
	// Whoever has the address of a pod that went away may be another node.
	if err != nil || status.Node != node.Validator.Name {
		return
	}
	node.Status = status
	if node.Ready() {
		return
	}
	if readiness, err := api.Readiness(ctx); err == nil {
		node.NotReady = readiness.Reasons
	}
}
