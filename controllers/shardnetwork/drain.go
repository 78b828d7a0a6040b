// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/internal/resources"
)

// drainMachines lets those pods be evicted that policy picks, and no others: the
// disruption budget holds the pods without the label. Whoever drains a machine
// tries again until it may.
func (r *run) drainMachines(ctx context.Context) error {
	if r.observation == nil {
		return nil
	}
	drains := replacing.NewDrains(r.observation)
	var failed error
	if len(drains.LetGo) > 0 {
		var changed bool
		if changed, failed = r.podsByNow(ctx); changed {
			drains = replacing.NewDrains(r.observation)
		}
	}
	if failed != nil {
		// Nobody is let go unseen. Who is to stay is held all the same.
		drains.LetGo = nil
	} else {
		r.note(drains.MachinesKept)
	}
	for _, i := range drains.LetGo {
		failed = errors.Join(failed, r.setEviction(ctx, &r.observation.Nodes[i], true))
	}
	for _, i := range drains.Hold {
		failed = errors.Join(failed, r.setEviction(ctx, &r.observation.Nodes[i], false))
	}
	return failed
}

// setEviction lets a node's pod be evicted, or holds it. That is about the very
// pod that was looked at, as it was then: of another one nothing is known.
func (r *run) setEviction(ctx context.Context, node *observed.Node, allowed bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	s, pod := r.siteOf(node.Validator), node.Pod.DeepCopy()
	delete(pod.Labels, resources.LabelEviction)
	if allowed {
		pod.Labels[resources.LabelEviction] = resources.EvictionAllowed
		// What is replaced in this run counts it, whatever comes of the request.
		node.LetGo = true
	}
	err := s.client.Patch(ctx, pod, owned.LockedPatch(node.Pod), client.FieldOwner(FieldManager))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return s.wrap(fmt.Errorf("label pod %s: %w", pod.Name, err))
	}
	node.LetGo = allowed
	return nil
}
