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
		return false, r.podsUnread
	}
	r.podsRead = true
	if r.podsUnread = r.onSites(ctx, func(ctx context.Context, s *site) error { return s.readPods(ctx) }); r.podsUnread != nil {
		return false, r.podsUnread
	}
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		switch s := r.siteOf(node.Validator); {
		case node.Unobserved:
		case s.lost != nil:
			node.Unobserved, changed = true, true
		default:
			changed = renew(node, s.pods[resources.PodName(node.Validator.Name)]) || changed
		}
	}
	return changed, nil
}

// readPods asks the cluster's API server for the pods of the network.
func (s *site) readPods(ctx context.Context) error {
	if len(s.validators) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list := &corev1.PodList{}
	if err := s.reader.List(ctx, list, client.InNamespace(s.network.Namespace),
		client.MatchingLabels{resources.LabelNetwork: s.network.Name}); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	s.pods = s.podsOf(list)
	return nil
}

// renew has a node have the pod that is there by now, and says whether it is another one,
// or in another state. What another pod's node said, or waits for, is not said of this one.
func renew(node *observed.Node, pod *corev1.Pod) bool {
	before := node.Pod
	node.Pod, node.LetGo = pod, letGo(pod)
	if before == nil && pod == nil {
		return false
	}
	if before == nil || pod == nil || before.UID != pod.UID {
		// What it is made from, and where it is, is looked at in the next run.
		*node = observed.Node{Validator: node.Validator, Pod: pod, LetGo: node.LetGo}
		return true
	}
	if before.Spec.NodeName != pod.Spec.NodeName {
		node.Machine = nil
	}
	return before.ResourceVersion != pod.ResourceVersion
}
