// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/policy"
)

// replaceNodes deletes the pods that policy picks: their StatefulSets make them
// again from what the spec says now.
func (r *run) replaceNodes(ctx context.Context) error {
	if r.observation == nil {
		return nil
	}
	restart, updated := policy.Restarts(r.observation)
	r.note(updated)
	var failed error
	for _, i := range restart {
		pod := r.observation.Nodes[i].Pod
		// Only this very pod: by now there may be a new one of its name.
		err := r.siteOf(r.observation.Nodes[i].Validator).client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
		if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			failed = errors.Join(failed, fmt.Errorf("delete pod %s: %w", pod.Name, err))
		}
	}
	return failed
}
