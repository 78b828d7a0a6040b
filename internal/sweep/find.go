// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// Cluster is what a cluster has.
type Cluster struct {
	Networks     []v1alpha1.ShardNetwork
	StatefulSets []appsv1.StatefulSet
	// Pods are those of networks, and those that fill disks before their network is there.
	Pods    []corev1.Pod
	Claims  []corev1.PersistentVolumeClaim
	Volumes []corev1.PersistentVolume
	// ConfigMaps are those of networks: what a network kept with its disks has the
	// genesis document among them.
	ConfigMaps []metav1.PartialObjectMetadata

	// ours are the volumes that Remember knows.
	ours map[types.UID]bool
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
	// ByNameOnly says that nothing but the name of its claim tells that a volume was a
	// network's. It may be anybody's.
	ByNameOnly bool `json:"byNameOnly,omitempty"`
	// Restoring says that a claim is of a network that is restored, by a restore that goes on
	// or did not come to its end.
	Restoring bool `json:"restoring,omitempty"`
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
	used, restoring := cluster.used(), cluster.restoring()
	var found []Leftover
	for i := range cluster.Claims {
		claim := &cluster.Claims[i]
		name := types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}
		network := networkOf(claim)
		of := types.NamespacedName{Namespace: claim.Namespace, Name: network}
		if network == "" || used[name] || living[of] {
			continue
		}
		leftover := ofClaim(claim, network)
		leftover.Restoring = restoring[of]
		found = append(found, leftover)
	}
	known := cluster.known()
	for i := range cluster.Volumes {
		volume := &cluster.Volumes[i]
		network := networkOfVolume(volume)
		if network == "" {
			continue
		}
		of := types.NamespacedName{Namespace: volume.Spec.ClaimRef.Namespace, Name: network}
		leftover := ofVolume(volume, network)
		leftover.ByNameOnly = !known[of] && !cluster.ours[volume.UID] &&
			!resources.IsStorageClass(volume.Spec.StorageClassName, of.Namespace, of.Name)
		found = append(found, leftover)
	}
	slices.SortFunc(found, func(a, b Leftover) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Network, b.Network),
			-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// used are the claims that somebody has. Where a network has members, they have no network,
// but its validators, and for a moment nothing but its pods, while a StatefulSet is made anew.
// A restore has pods alone.
func (c *Cluster) used() map[types.NamespacedName]bool {
	used := map[types.NamespacedName]bool{}
	for i := range c.StatefulSets {
		set := &c.StatefulSets[i]
		used[types.NamespacedName{Namespace: set.Namespace, Name: resources.ClaimName(set.Name)}] = true
	}
	for i := range c.Pods {
		pod := &c.Pods[i]
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, volume := range pod.Spec.Volumes {
			if claim := volume.PersistentVolumeClaim; claim != nil {
				used[types.NamespacedName{Namespace: pod.Namespace, Name: claim.ClaimName}] = true
			}
		}
	}
	return used
}

// restoring are the networks of which not all that is restored is there. Disks that are full
// wait for the others, and no pod has them meanwhile.
func (c *Cluster) restoring() map[types.NamespacedName]bool {
	restoring := map[types.NamespacedName]bool{}
	for i := range c.ConfigMaps {
		document := &c.ConfigMaps[i]
		if network := networkOf(document); network != "" && document.Annotations[resources.AnnotationRestore] != "" {
			restoring[types.NamespacedName{Namespace: document.Namespace, Name: network}] = true
		}
	}
	return restoring
}

// known are the networks of which there is anything but a volume, or they themselves.
func (c *Cluster) known() map[types.NamespacedName]bool {
	known := map[types.NamespacedName]bool{}
	for i := range c.Networks {
		known[types.NamespacedName{Namespace: c.Networks[i].Namespace, Name: c.Networks[i].Name}] = true
	}
	note := func(object metav1.Object) {
		if network := networkOf(object); network != "" {
			known[types.NamespacedName{Namespace: object.GetNamespace(), Name: network}] = true
		}
	}
	for i := range c.Claims {
		note(&c.Claims[i])
	}
	for i := range c.StatefulSets {
		note(&c.StatefulSets[i])
	}
	for i := range c.ConfigMaps {
		note(&c.ConfigMaps[i])
	}
	return known
}

// Remember has Find take volumes for validators' whose claims said so when the cluster
// was read before, and returns those and the ones whose claims say so now. A network
// leaves nothing else behind when only its storage class keeps volumes.
func (c *Cluster) Remember(before map[types.UID]bool) map[types.UID]bool {
	claims := map[types.UID]bool{}
	for i := range c.Claims {
		claims[c.Claims[i].UID] = networkOf(&c.Claims[i]) != ""
	}
	c.ours = map[types.UID]bool{}
	for i := range c.Volumes {
		volume := &c.Volumes[i]
		if claim := volume.Spec.ClaimRef; before[volume.UID] || claim != nil && claims[claim.UID] {
			c.ours[volume.UID] = true
		}
	}
	return c.ours
}

// networkOf is the network that an object is of; empty for what is somebody else's.
func networkOf(object metav1.Object) string {
	labels := object.GetLabels()
	if labels[resources.LabelManagedBy] != resources.ManagedBy {
		return ""
	}
	return labels[resources.LabelNetwork]
}

// claimOfValidator is the form of the names that resources.ClaimName makes of those of
// producers, chunk validators, rpc nodes and archives.
var claimOfValidator = regexp.MustCompile(`^data-([a-z](?:[-a-z0-9]*[a-z0-9])?)-(?:s\d+-p\d+|[vra]\d+)-0$`)

// networkOfVolume is the network that a volume was made for whose claim is gone, by
// the claim's name; empty for other volumes. Volumes carry no labels of their claims,
// and others may give theirs such names. A network of this name that is there has
// another volume.
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
