// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/shardyard/shardyard/controllers/owned"
)

// finalizer keeps a NodeTuning until its machines have their old values back.
const finalizer = "shardyard.dev/old-values"

func (r *run) holdsFinalizer() bool {
	return controllerutil.ContainsFinalizer(r.tuning, finalizer)
}

// holdFinalizer comes before the first machine is changed.
func (r *run) holdFinalizer(ctx context.Context) error {
	return owned.AddFinalizer(ctx, r.client, r.tuning, finalizer)
}

func (r *run) releaseFinalizer(ctx context.Context) error {
	return owned.RemoveFinalizer(ctx, r.client, r.tuning, finalizer)
}
