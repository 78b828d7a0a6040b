// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// Cluster is what a cluster has.
type Cluster struct {
	Networks     []v1alpha1.ShardNetwork
	StatefulSets []appsv1.StatefulSet
	Claims       []corev1.PersistentVolumeClaim
	Volumes      []corev1.PersistentVolume
}

// Kind is what a disk is left as.
type Kind string

const (
	// Claim is a volume claim, with or without a volume.
	Claim Kind = "PersistentVolumeClaim"
	// Volume is a volume whose claim is gone.
	Volume Kind = "PersistentVolume"
)

// Leftover is a disk that outlived its network.
type Leftover struct {
	Kind Kind `json:"kind"`
	// Namespace is that of the network, and of a claim.
	Namespace string `json:"namespace"`
	// Network is the name that the network had.
	Network string `json:"network"`
	Name    string `json:"name"`
	// Size is what the disk holds, as in 400Gi.
	Size string `json:"size"`
	// StorageClass is empty for the default one of a claim without a volume.
	StorageClass string `json:"storageClass,omitempty"`
	// State is the phase that the cluster says it is in, or Terminating.
	State string `json:"state"`
	// Created is when the disk was asked for.
	Created time.Time `json:"created"`

	// Bytes are those of the size.
	Bytes int64 `json:"-"`
	// UID tells it from a later object of its name.
	UID types.UID `json:"-"`
}

// terminating is the state of what is deleted and not gone.
const terminating = "Terminating"

// Find lists the disks that outlived their network, by namespace, network, kind
// and name.
func Find(cluster *Cluster) []Leftover {
	living := map[types.NamespacedName]bool{}
	for i := range cluster.Networks {
		living[types.NamespacedName{Namespace: cluster.Networks[i].Namespace, Name: cluster.Networks[i].Name}] = true
	}
	// Where a network has members, they have no network, but its validators.
	used := map[types.NamespacedName]bool{}
	for i := range cluster.StatefulSets {
		set := &cluster.StatefulSets[i]
		used[types.NamespacedName{Namespace: set.Namespace, Name: resources.ClaimName(set.Name)}] = true
	}

	var found []Leftover
	for i := range cluster.Claims {
		claim := &cluster.Claims[i]
		name := types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}
		network := networkOfClaim(claim)
		if network == "" || used[name] || living[types.NamespacedName{Namespace: claim.Namespace, Name: network}] {
			continue
		}
		found = append(found, ofClaim(claim, network))
	}
	for i := range cluster.Volumes {
		volume := &cluster.Volumes[i]
		if network := networkOfVolume(volume); network != "" {
			found = append(found, ofVolume(volume, network))
		}
	}
	slices.SortFunc(found, func(a, b Leftover) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Network, b.Network),
			-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// networkOfClaim is the network that a validator's claim is of; empty for other
// claims.
func networkOfClaim(claim *corev1.PersistentVolumeClaim) string {
	if claim.Labels[resources.LabelManagedBy] != resources.ManagedBy {
		return ""
	}
	return claim.Labels[resources.LabelNetwork]
}

// claimOfValidator is the form of the names that resources.ClaimName makes of those of
// producers, chunk validators, rpc nodes and archives.
var claimOfValidator = regexp.MustCompile(`^data-([a-z](?:[-a-z0-9]*[a-z0-9])?)-(?:s\d+-p\d+|[vra]\d+)-0$`)

// networkOfVolume is the network that a volume was made for whose claim is gone;
// empty for other volumes. Volumes carry no labels of their claims, so the
// claim's name tells. A network of this name that is there has another volume.
func networkOfVolume(volume *corev1.PersistentVolume) string {
	claim := volume.Spec.ClaimRef
	if claim == nil || volume.Status.Phase != corev1.VolumeReleased && volume.Status.Phase != corev1.VolumeFailed {
		return ""
	}
	match := claimOfValidator.FindStringSubmatch(claim.Name)
	if match == nil {
		return ""
	}
	return match[1]
}

func ofClaim(claim *corev1.PersistentVolumeClaim, network string) Leftover {
	size, ok := claim.Status.Capacity[corev1.ResourceStorage]
	if !ok {
		size = claim.Spec.Resources.Requests[corev1.ResourceStorage]
	}
	found := Leftover{
		Kind: Claim, Namespace: claim.Namespace, Network: network, Name: claim.Name, Size: size.String(), Bytes: size.Value(),
		State: string(claim.Status.Phase), Created: claim.CreationTimestamp.Time, UID: claim.UID,
	}
	if claim.Spec.StorageClassName != nil {
		found.StorageClass = *claim.Spec.StorageClassName
	}
	if claim.DeletionTimestamp != nil {
		found.State = terminating
	}
	return found
}

func ofVolume(volume *corev1.PersistentVolume, network string) Leftover {
	size := volume.Spec.Capacity[corev1.ResourceStorage]
	found := Leftover{
		Kind: Volume, Namespace: volume.Spec.ClaimRef.Namespace, Network: network, Name: volume.Name, Size: size.String(), Bytes: size.Value(),
		StorageClass: volume.Spec.StorageClassName, State: string(volume.Status.Phase),
		Created: volume.CreationTimestamp.Time, UID: volume.UID,
	}
	if volume.DeletionTimestamp != nil {
		found.State = terminating
	}
	return found
}
