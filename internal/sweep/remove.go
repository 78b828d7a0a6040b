// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Remove deletes disks that Find found, each whatever becomes of the others.
func Remove(ctx context.Context, cluster client.Client, found []Leftover) error {
	var failed error
	for i := range found {
		leftover := &found[i]
		remove := removeClaim
		if leftover.Kind == Volume {
			remove = removeVolume
		}
		// What is gone meanwhile, or is another one, is not what was found.
		if err := remove(ctx, cluster, leftover); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			failed = errors.Join(failed, fmt.Errorf("delete %s %s: %w", leftover.Kind, leftover.Name, err))
		}
	}
	return failed
}

func removeClaim(ctx context.Context, cluster client.Client, leftover *Leftover) error {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: leftover.Namespace, Name: leftover.Name}}
	return cluster.Delete(ctx, claim, client.Preconditions{UID: &leftover.UID})
}

// removeVolume has the cluster delete a volume that was kept: to delete the
// object would leave the disk behind, and nothing in the cluster would know of
// it.
func removeVolume(ctx context.Context, cluster client.Client, leftover *Leftover) error {
	volume := &corev1.PersistentVolume{}
	if err := cluster.Get(ctx, client.ObjectKey{Name: leftover.Name}, volume); err != nil {
		return err
	}
	if volume.UID != leftover.UID || volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	before := volume.DeepCopy()
	volume.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	return cluster.Patch(ctx, volume, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
