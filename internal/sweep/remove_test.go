// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/internal/sweep"
)

const (
	retain = corev1.PersistentVolumeReclaimRetain
	erase  = corev1.PersistentVolumeReclaimDelete
)

var (
	volumes   = schema.GroupResource{Resource: "persistentvolumes"}
	conflict  = apierrors.NewConflict(volumes, "pvc-1", nil)
	forbidden = apierrors.NewForbidden(volumes, "pvc-1", nil)
)

// refusingPatches refuses so many changes of volumes.
func refusingPatches(count int, refusal error) interceptor.Funcs {
	return interceptor.Funcs{
		Patch: func(ctx context.Context, next client.WithWatch, of client.Object, patch client.Patch, o ...client.PatchOption) error {
			if count > 0 {
				count--
				return refusal
			}
			return next.Patch(ctx, of, patch, o...)
		},
	}
}

// disk is a claim and its volume.
type disk struct {
	claim  corev1.PersistentVolumeClaim
	volume corev1.PersistentVolume
}

// newDisk is one whose volume is kept when the claim goes.
func newDisk() *disk {
	d := &disk{claim("default", "net"), volume("pvc-1", corev1.VolumeBound, "default", "data-net-s0-p0-0")}
	d.claim.UID, d.volume.UID = "claim", "volume"
	d.claim.Spec.VolumeName, d.volume.Spec.ClaimRef.UID = d.volume.Name, d.claim.UID
	d.volume.Spec.PersistentVolumeReclaimPolicy = retain
	return d
}

// A claim goes with its volume, or not at all.
func TestRemoveClaim(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change    func(*disk)
		functions interceptor.Funcs
		policy    corev1.PersistentVolumeReclaimPolicy
		// failure is what the error says, and the claim stays then; empty without one.
		failure string
	}{
		"kept":             {func(*disk) {}, interceptor.Funcs{}, erase, ""},
		"changed by other": {func(*disk) {}, refusingPatches(1, conflict), erase, ""},
		"of another claim": {func(d *disk) { d.volume.Spec.ClaimRef.UID = "another" }, interceptor.Funcs{}, retain, ""},
		"gone":             {func(d *disk) { d.claim.Spec.VolumeName = "pvc-0" }, interceptor.Funcs{}, retain, ""},
		"never":            {func(d *disk) { d.claim.Spec.VolumeName = "" }, interceptor.Funcs{}, retain, ""},
		"denied":           {func(*disk) {}, refusingPatches(1, forbidden), retain, "have its volume pvc-1 deleted with it: "},
		"always changed":   {func(*disk) {}, refusingPatches(1000, conflict), retain, "have its volume pvc-1 deleted with it: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := newDisk()
			test.change(disk)
			cluster := newCluster(t, test.functions, &disk.claim, &disk.volume)
			err := sweep.Remove(t.Context(), cluster, []sweep.Leftover{
				{Kind: sweep.Claim, Namespace: "default", Network: "net", Name: disk.claim.Name, UID: disk.claim.UID},
			})
			if (err == nil) != (test.failure == "") || err != nil && !strings.Contains(err.Error(), test.failure) {
				t.Errorf("the error is %v, want one of %q", err, test.failure)
			}
			claimed := cluster.Get(t.Context(), client.ObjectKeyFromObject(&disk.claim), &disk.claim)
			if (claimed == nil) != (test.failure != "") {
				t.Errorf("the claim is read with the error %v", claimed)
			}
			checkPolicy(t, cluster, test.policy)
		})
	}
}

// checkPolicy expects the only volume to have a reclaim policy.
func checkPolicy(t *testing.T, cluster client.Client, want corev1.PersistentVolumeReclaimPolicy) {
	t.Helper()
	volume := &corev1.PersistentVolume{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Name: "pvc-1"}, volume); err != nil {
		t.Fatal(err)
	}
	if policy := volume.Spec.PersistentVolumeReclaimPolicy; policy != want {
		t.Errorf("the volume has the policy %s, want %s", policy, want)
	}
}

// A volume is deleted as the one that was found, and whoever asks for what cannot be is told.
func TestRemoveVolume(t *testing.T) {
	t.Parallel()
	const has = "its provisioner is to delete it already, and could not: see its events"
	for name, test := range map[string]struct {
		phase     corev1.PersistentVolumePhase
		policy    corev1.PersistentVolumeReclaimPolicy
		uid       string
		functions interceptor.Funcs
		want      corev1.PersistentVolumeReclaimPolicy
		failure   string
	}{
		"kept":             {corev1.VolumeReleased, retain, "volume", interceptor.Funcs{}, erase, ""},
		"changed by other": {corev1.VolumeReleased, retain, "volume", refusingPatches(1, conflict), erase, ""},
		"another":          {corev1.VolumeReleased, retain, "another", interceptor.Funcs{}, retain, ""},
		"in use again":     {corev1.VolumeBound, retain, "volume", interceptor.Funcs{}, retain, ""},
		"going":            {corev1.VolumeReleased, erase, "volume", interceptor.Funcs{}, erase, ""},
		"not deletable":    {corev1.VolumeFailed, erase, "volume", interceptor.Funcs{}, erase, has},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := newDisk()
			disk.volume.Status.Phase, disk.volume.Spec.PersistentVolumeReclaimPolicy = test.phase, test.policy
			cluster := newCluster(t, test.functions, &disk.volume)
			err := sweep.Remove(t.Context(), cluster, []sweep.Leftover{
				{Kind: sweep.Volume, Namespace: "default", Network: "net", Name: disk.volume.Name, UID: types.UID(test.uid)},
			})
			if (err == nil) != (test.failure == "") || err != nil && !strings.Contains(err.Error(), test.failure) {
				t.Errorf("the error is %v, want one of %q", err, test.failure)
			}
			checkPolicy(t, cluster, test.want)
		})
	}
}
