// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
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
		// What somebody changed meanwhile is looked at again.
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return remove(ctx, cluster, leftover) })
		if err != nil && !apierrors.IsNotFound(err) {
			failed = errors.Join(failed, fmt.Errorf("delete %s %s: %w", leftover.Kind, leftover.Name, err))
		}
	}
	return failed
}

// removeClaim deletes a claim whose disk goes with it. A volume that is kept when its
// claim goes would be left in turn, with less to say whose it was: where that cannot be
// helped, the claim stays.
func removeClaim(ctx context.Context, cluster client.Client, leftover *Leftover) error {
	claim := &corev1.PersistentVolumeClaim{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: leftover.Namespace, Name: leftover.Name}, claim); err != nil {
		return err
	}
	if claim.UID != leftover.UID {
		return nil
	}
	if err := reclaimWith(ctx, cluster, claim); err != nil {
		return fmt.Errorf("have its volume %s deleted with it: %w", claim.Spec.VolumeName, err)
	}
	// Nor may it have got another volume since.
	return cluster.Delete(ctx, claim, client.Preconditions{UID: &claim.UID, ResourceVersion: &claim.ResourceVersion})
}

// reclaimWith has the volume of a claim, if there is one, deleted when the claim is.
func reclaimWith(ctx context.Context, cluster client.Client, claim *corev1.PersistentVolumeClaim) error {
	if claim.Spec.VolumeName == "" {
		return nil
	}
	volume := &corev1.PersistentVolume{}
	if err := cluster.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume); err != nil {
		return client.IgnoreNotFound(err)
	}
	if of := volume.Spec.ClaimRef; of == nil || of.UID != claim.UID {
		return nil
	}
	return client.IgnoreNotFound(reclaim(ctx, cluster, volume))
}

// removeVolume has the cluster delete a volume that was kept: to delete the
// object would leave the disk behind, and nothing in the cluster would know of
// it.
func removeVolume(ctx context.Context, cluster client.Client, leftover *Leftover) error {
	volume := &corev1.PersistentVolume{}
	if err := cluster.Get(ctx, client.ObjectKey{Name: leftover.Name}, volume); err != nil {
		return err
	}
	// Another one has its name, or somebody has it again.
	if volume.UID != leftover.UID || networkOfVolume(volume) == "" {
		return nil
	}
	failed := volume.Status.Phase == corev1.VolumeFailed
	if failed && volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		return errors.New("its provisioner is to delete it already, and could not: see its events")
	}
	return reclaim(ctx, cluster, volume)
}

// reclaim has a volume deleted, with its disk, as soon as it has no claim.
func reclaim(ctx context.Context, cluster client.Client, volume *corev1.PersistentVolume) error {
	if volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	before := volume.DeepCopy()
	volume.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	return cluster.Patch(ctx, volume, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
