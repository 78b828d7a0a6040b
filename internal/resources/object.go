// SPDX-License-Identifier: Apache-2.0

package resources

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Object is any Kubernetes object.
type Object interface {
	metav1.Object
	runtime.Object
}

// owned is the metadata of an object that the cluster deletes with its network.
func owned(network *v1alpha1.ShardNetwork, name string) metav1.ObjectMeta {
	meta := kept(network, name)
	meta.OwnerReferences = []metav1.OwnerReference{OwnerReference(network)}
	return meta
}

// kept is the metadata of an object that stays when its network is deleted.
func kept(network *v1alpha1.ShardNetwork, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: network.Namespace, Name: name, Labels: NetworkLabels(network.Name)}
}

// retained is the metadata of what makes validators' disks useful: it goes or
// stays with the disks.
func retained(network *v1alpha1.ShardNetwork, name string) metav1.ObjectMeta {
	if Retained(network) {
		return kept(network, name)
	}
	return owned(network, name)
}

// Retained says whether validators' disks, keys and genesis document stay when
// the network is deleted.
func Retained(network *v1alpha1.ShardNetwork) bool {
	return network.Spec.Volume != nil && network.Spec.Volume.Retention == v1alpha1.VolumeRetentionRetain
}

// OwnerReference names a network as the owner of an object.
func OwnerReference(network *v1alpha1.ShardNetwork) metav1.OwnerReference {
	return *metav1.NewControllerRef(network, v1alpha1.GroupVersion.WithKind(v1alpha1.KindShardNetwork))
}
