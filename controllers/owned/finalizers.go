// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// AddFinalizer has an object stay until a finalizer of it is removed.
func AddFinalizer(ctx context.Context, api client.Client, object client.Object, finalizer string) error {
	before := copyOf(object)
	if !controllerutil.AddFinalizer(object, finalizer) {
		return nil
	}
	if err := api.Patch(ctx, object, LockedPatch(before)); err != nil {
		return fmt.Errorf("add finalizer %s: %w", finalizer, err)
	}
	return nil
}

// RemoveFinalizer lets an object go that a finalizer has kept. One that is gone is no
// error.
func RemoveFinalizer(ctx context.Context, api client.Client, object client.Object, finalizer string) error {
	before := copyOf(object)
	if !controllerutil.RemoveFinalizer(object, finalizer) {
		return nil
	}
	if err := api.Patch(ctx, object, LockedPatch(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove finalizer %s: %w", finalizer, err)
	}
	return nil
}

// LockedPatch is what an object differs in from before. It fails when somebody else
// changed the object meanwhile: finalizers, for one, are one list.
func LockedPatch(before client.Object) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}

func copyOf(object client.Object) client.Object {
	return object.DeepCopyObject().(client.Object) //nolint:forcetypeassert // A copy has the type of what it is a copy of.
}
