// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
)

// replaceNodes deletes the pods that policy picks: their StatefulSets make them
// again from what they are to run now.
func (r *run) replaceNodes(ctx context.Context) error {
	if r.observation == nil {
		return nil
	}
	rollout := replacing.NewRollout(r.observation)
	if len(rollout.Replace) > 0 {
		changed, err := r.podsByNow(ctx)
		if err != nil {
			return err
		}
		if changed {
			rollout = replacing.NewRollout(r.observation)
		}
	}
	r.note(rollout.Updated)
	r.status.Update = rollout.Update
	if rollout.Complete {
		r.status.StableRevision = r.wanted
	}
	r.replaces = len(rollout.Replace) > 0
	if before := r.network.Status.Update; r.replaces && rollout.Update != nil &&
		(before == nil || before.Revision != rollout.Update.Revision) {
		// Who looks next knows by that since when there may be trouble of its making.
		if err := r.writeStatus(ctx); err != nil {
			return fmt.Errorf("write that an update begins: %w", err)
		}
	}
	var failed error
	for _, i := range rollout.Replace {
		failed = errors.Join(failed, r.deletePod(ctx, &r.observation.Nodes[i]))
	}
	return failed
}

// deletePod deletes the pod of a node, and only this very one: by now there may be a
// new one of its name.
func (r *run) deletePod(ctx context.Context, node *observed.Node) error {
	err := r.siteOf(node.Validator).client.Delete(ctx, node.Pod, client.Preconditions{UID: &node.Pod.UID})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod %s: %w", node.Pod.Name, err)
	}
	return nil
}
