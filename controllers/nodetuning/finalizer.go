// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// finalizer keeps a NodeTuning until its machines have their old values back.
const finalizer = "shardyard.dev/old-values"

func (r *run) holdsFinalizer() bool {
	return controllerutil.ContainsFinalizer(r.tuning, finalizer)
}

// holdFinalizer comes before the first machine is changed.
func (r *run) holdFinalizer(ctx context.Context) error {
	before := r.tuning.DeepCopy()
	if !controllerutil.AddFinalizer(r.tuning, finalizer) {
		return nil
	}
	// Finalizers are one list: somebody else's change must not be lost.
	if err := r.client.Patch(ctx, r.tuning, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add finalizer: %w", err)
	}
	return nil
}

func (r *run) releaseFinalizer(ctx context.Context) error {
	before := r.tuning.DeepCopy()
	controllerutil.RemoveFinalizer(r.tuning, finalizer)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, r.tuning, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove finalizer: %w", err)
	}
	return nil
}
