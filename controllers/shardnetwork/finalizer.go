// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// finalizerStorageClass keeps a network until its storage classes are deleted:
	// they have no namespace, so the cluster cannot delete them with the
	// network.
	finalizerStorageClass = "shardyard.dev/storage-class"
	// finalizerClusters keeps a network until the member clusters have nothing of
	// it any more: they do not know when it goes.
	finalizerClusters = v1alpha1.FinalizerClusters
)

// holdFinalizers comes before the first object that needs one.
func (r *run) holdFinalizers(ctx context.Context) error {
	before := r.network.DeepCopy()
	if len(resources.NewStorageClasses(r.network)) > 0 {
		controllerutil.AddFinalizer(r.network, finalizerStorageClass)
	}
	if len(r.plan.Members()) > 0 {
		controllerutil.AddFinalizer(r.network, finalizerClusters)
	}
	if !slices.Equal(before.Finalizers, r.network.Finalizers) {
		// The answer says what the spec says, which is not what nodes are to be where
		// that was rolled back.
		held := r.network.DeepCopy()
		if err := r.client.Patch(ctx, held, owned.LockedPatch(before)); err != nil {
			return fmt.Errorf("add finalizers: %w", err)
		}
		r.network.ResourceVersion = held.ResourceVersion
	}
	return nil
}

// finalize deletes what the cluster does not delete by itself.
func (r *Reconciler) finalize(ctx context.Context, network *v1alpha1.ShardNetwork) (ctrl.Result, error) {
	if controllerutil.ContainsFinalizer(network, finalizerClusters) {
		gone, err := r.removeEverywhere(ctx, network)
		if err != nil || !gone {
			return ctrl.Result{RequeueAfter: removalInterval}, err
		}
		if err := owned.RemoveFinalizer(ctx, r.client, network, finalizerClusters); err != nil {
			return ctrl.Result{}, err
		}
	}
	if controllerutil.ContainsFinalizer(network, finalizerStorageClass) {
		if err := r.deleteStorageClasses(ctx, network); err != nil {
			return ctrl.Result{}, err
		}
		if err := owned.RemoveFinalizer(ctx, r.client, network, finalizerStorageClass); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

// deleteStorageClasses asks the API server for them: one that the cache does not have
// yet would stay.
func (r *Reconciler) deleteStorageClasses(ctx context.Context, network *v1alpha1.ShardNetwork) error {
	for _, class := range resources.NewStorageClasses(network) {
		err := r.reader.Get(ctx, client.ObjectKeyFromObject(class), class)
		// A class of that name that somebody else made stays.
		if err == nil && isClassOf(class, network) {
			err = r.client.Delete(ctx, class, client.Preconditions{UID: &class.UID})
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete storage class %s: %w", class.Name, err)
		}
	}
	return nil
}

// isClassOf says whether a storage class, which has no owner, is a network's.
func isClassOf(class client.Object, network *v1alpha1.ShardNetwork) bool {
	labels := class.GetLabels()
	return class.GetNamespace() == "" &&
		labels[resources.LabelManagedBy] == resources.ManagedBy && labels[resources.LabelNetwork] == network.Name
}
