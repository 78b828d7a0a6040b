// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
)

// podsByNow says whether any pod is another one than a cache had, or in another state, and
// notes what: who had a node go just now is not to have another one go because the cache
// has not heard of that yet. It asks the API servers once in a run.
func (r *run) podsByNow(ctx context.Context) (changed bool, err error) {
	if r.podsRead {
		return false, nil
	}
	pods := map[string]map[string]*corev1.Pod{}
	for _, s := range r.sites {
		if s.lost != nil || len(s.validators) == 0 {
			continue
		}
		if pods[s.cluster], err = s.readPods(ctx); err != nil {
			return false, s.wrap(err)
		}
	}
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		if there, ok := pods[node.Validator.Cluster]; ok && !node.Unobserved {
			changed = renew(node, there[resources.PodName(node.Validator.Name)]) || changed
		}
	}
	r.podsRead = true
	return changed, nil
}

// readPods asks the API server of a cluster for the pods of the network, by name.
func (s *site) readPods(ctx context.Context) (map[string]*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list := &corev1.PodList{}
	if err := s.reader.List(ctx, list, client.InNamespace(s.network.Namespace),
		client.MatchingLabels{resources.LabelNetwork: s.network.Name}); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := make(map[string]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods[list.Items[i].Name] = &list.Items[i]
	}
	return pods, nil
}

// renew has a node have the pod that is there by now, and says whether it is another one,
// or in another state. What another pod's node said, or waits for, is not said of this one.
func renew(node *observed.Node, pod *corev1.Pod) bool {
	before := node.Pod
	node.Pod, node.LetGo = pod, letGo(pod)
	if before == nil || pod == nil || before.UID != pod.UID {
		node.Status, node.SaysReady, node.NotReady, node.LostDisk = nil, false, nil, nil
		// What it is made from is looked at in the next run.
		node.Outdated, node.AwaitsStart = false, false
		return before != pod
	}
	return before.ResourceVersion != pod.ResourceVersion
}
