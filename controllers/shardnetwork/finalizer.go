// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// finalizer keeps a network until its storage class is deleted: the class has
// no namespace, so the cluster cannot delete it with the network.
const finalizer = "shardyard.dev/storage-class"

// holdFinalizer comes before the first object that needs it.
func (r *run) holdFinalizer(ctx context.Context) error {
	if !resources.HasStorageClass(r.network) {
		return nil
	}
	before := r.network.DeepCopy()
	if !controllerutil.AddFinalizer(r.network, finalizer) {
		return nil
	}
	if err := r.client.Patch(ctx, r.network, lockedPatch(before)); err != nil {
		return fmt.Errorf("add finalizer: %w", err)
	}
	return nil
}

// finalize deletes what the cluster does not delete by itself.
func (r *Reconciler) finalize(ctx context.Context, network *v1alpha1.ShardNetwork) error {
	before := network.DeepCopy()
	if !controllerutil.RemoveFinalizer(network, finalizer) {
		return nil
	}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: resources.StorageClassName(network)}}
	err := r.client.Get(ctx, client.ObjectKeyFromObject(class), class)
	// A class of that name that somebody else made stays.
	if err == nil && isClassOf(class, network) {
		err = r.client.Delete(ctx, class, client.Preconditions{UID: &class.UID})
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete storage class %s: %w", class.Name, err)
	}
	if err := r.client.Patch(ctx, network, lockedPatch(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove finalizer: %w", err)
	}
	return nil
}

// isClassOf says whether a storage class, which has no owner, is a network's.
func isClassOf(class client.Object, network *v1alpha1.ShardNetwork) bool {
	labels := class.GetLabels()
	return class.GetNamespace() == "" &&
		labels[resources.LabelManagedBy] == resources.ManagedBy && labels[resources.LabelNetwork] == network.Name
}

// lockedPatch fails when somebody else changed the finalizers meanwhile: they
// are one list.
func lockedPatch(before client.Object) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}
