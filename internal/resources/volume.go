// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// volumeData is the volume of a validator's durable state.
const volumeData = "data"

// Provisioner makes Hyperdisk volumes, the disks whose performance can be
// stated.
const Provisioner = "pd.csi.storage.gke.io"

// DiskType is the type of the disks whose performance a network states.
const DiskType = "hyperdisk-balanced"

// Disk is the disk of each node of a role.
type Disk struct {
	// Volume says what it is.
	Volume *v1alpha1.VolumeSpec
	// Field is the field of the spec that does.
	Field string
	// made is the name of the class of disks with this performance.
	made string
}

// DiskOf is the disk of the nodes of a role; nil when the network has none.
func DiskOf(network *v1alpha1.ShardNetwork, role topology.Role) *Disk {
	volume, field := role.Volume(network.Spec.Volume)
	if volume == nil {
		return nil
	}
	disk := &Disk{Volume: volume, Field: field, made: StorageClassName(network)}
	if volume != network.Spec.Volume {
		disk.made = roleClassName(network, role)
	}
	return disk
}

// HasPerformance says whether the network states the performance of the disk, which
// then needs a class of its own.
func (d *Disk) HasPerformance() bool {
	return d.Volume.IOPS != 0 || d.Volume.ThroughputMebibytesPerSecond != 0
}

// Class is the storage class of the disk; empty is the default of the cluster.
func (d *Disk) Class() string {
	if d.HasPerformance() {
		return d.made
	}
	return d.Volume.StorageClassName
}

// NewStorageClasses are the classes of the disks whose performance a network states:
// one of all roles that have no disk of their own, and one of each that has. They have
// no owner: classes belong to no namespace.
func NewStorageClasses(network *v1alpha1.ShardNetwork) []*storagev1.StorageClass {
	var classes []*storagev1.StorageClass
	made := map[string]bool{}
	for _, role := range topology.Roles {
		disk := DiskOf(network, role)
		if disk == nil || !disk.HasPerformance() || made[disk.made] {
			continue
		}
		made[disk.made] = true
		classes = append(classes, newStorageClass(network, disk))
	}
	return classes
}

func newStorageClass(network *v1alpha1.ShardNetwork, disk *Disk) *storagev1.StorageClass {
	volume := disk.Volume
	parameters := map[string]string{"type": DiskType}
	if volume.IOPS != 0 {
		parameters["provisioned-iops-on-create"] = strconv.Itoa(int(volume.IOPS))
	}
	if volume.ThroughputMebibytesPerSecond != 0 {
		parameters["provisioned-throughput-on-create"] = strconv.Itoa(int(volume.ThroughputMebibytesPerSecond)) + "Mi"
	}
	return &storagev1.StorageClass{
		TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   disk.made,
			Labels: NetworkLabels(network.Name),
		},
		Provisioner: Provisioner,
		Parameters:  parameters,
		// Claims that stay keep their disks. The policy of a class cannot change.
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowVolumeExpansion: ptr.To(true),
	}
}

// volumeClaims are the claim templates of a validator with a disk.
func volumeClaims(
	network *v1alpha1.ShardNetwork, role topology.Role, labels map[string]string,
) []corev1.PersistentVolumeClaim {
	disk := DiskOf(network, role)
	if disk == nil {
		return nil
	}
	var class *string
	if name := disk.Class(); name != "" {
		class = &name
	}
	return []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: volumeData, Labels: labels},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: class,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: disk.Volume.Size.DeepCopy()},
			},
			VolumeMode: ptr.To(corev1.PersistentVolumeFilesystem),
		},
	}}
}

// ClaimSize is the size of the claims that a StatefulSet makes; nil when it makes
// none.
func ClaimSize(set *appsv1.StatefulSet) *resource.Quantity {
	for i := range set.Spec.VolumeClaimTemplates {
		if template := &set.Spec.VolumeClaimTemplates[i]; template.Name == volumeData {
			return template.Spec.Resources.Requests.Storage()
		}
	}
	return nil
}

// KeepClaimSize has a StatefulSet make claims of the size that those have which it
// makes as it is: that cannot change as long as it is there.
func KeepClaimSize(set, live *appsv1.StatefulSet) {
	size := ClaimSize(live)
	if size == nil {
		return
	}
	for i := range set.Spec.VolumeClaimTemplates {
		if template := &set.Spec.VolumeClaimTemplates[i]; template.Name == volumeData {
			template.Spec.Resources.Requests[corev1.ResourceStorage] = size.DeepCopy()
		}
	}
}

// claimRetention says what becomes of a validator's disk with its StatefulSet.
func claimRetention(network *v1alpha1.ShardNetwork) *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	whenDeleted := appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	if Retained(network) {
		whenDeleted = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	return &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: whenDeleted,
		WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
}

// dataVolume is what a validator without a disk keeps its state on: it lives as
// long as the pod.
func dataVolume(network *v1alpha1.ShardNetwork) []corev1.Volume {
	if network.Spec.Volume != nil {
		return nil
	}
	return []corev1.Volume{{
		Name:         volumeData,
		VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	}}
}
