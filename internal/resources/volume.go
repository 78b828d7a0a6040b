// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// volumeData is the volume of a validator's durable state.
const volumeData = "data"

// Provisioner makes Hyperdisk volumes, the disks whose performance can be
// stated.
const Provisioner = "pd.csi.storage.gke.io"

// DiskType is the type of the disks whose performance a network states.
const DiskType = "hyperdisk-balanced"

// HasStorageClass says whether a network's disks need a class of their own.
func HasStorageClass(network *v1alpha1.ShardNetwork) bool {
	volume := network.Spec.Volume
	return volume != nil && (volume.IOPS != 0 || volume.ThroughputMebibytesPerSecond != 0)
}

// NewStorageClass is the class of disks with the performance that a network
// states. It has no owner: classes belong to no namespace.
func NewStorageClass(network *v1alpha1.ShardNetwork) *storagev1.StorageClass {
	volume := network.Spec.Volume
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
			Name:   StorageClassName(network),
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
func volumeClaims(network *v1alpha1.ShardNetwork, labels map[string]string) []corev1.PersistentVolumeClaim {
	volume := network.Spec.Volume
	if volume == nil {
		return nil
	}
	return []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: volumeData, Labels: labels},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: storageClassOf(network),
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: volume.Size.DeepCopy()},
			},
			VolumeMode: ptr.To(corev1.PersistentVolumeFilesystem),
		},
	}}
}

// storageClassOf is the class of a network's disks; nil is the default of the
// cluster.
func storageClassOf(network *v1alpha1.ShardNetwork) *string {
	switch {
	case HasStorageClass(network):
		return ptr.To(StorageClassName(network))
	case network.Spec.Volume.StorageClassName != "":
		return ptr.To(network.Spec.Volume.StorageClassName)
	default:
		return nil
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
