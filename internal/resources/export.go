// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Export prepares an object for a member cluster: an owner reference holds only
// in the cluster of the owner, so a label takes its place. What has no owner
// because it stays when the network goes gets no label either. Storage classes
// have no namespace and so never have an owner, but go with the network.
func Export(network *v1alpha1.ShardNetwork, object Object) {
	if metav1.GetControllerOf(object) == nil && object.GetNamespace() != "" {
		return
	}
	object.SetOwnerReferences(nil)
	// Parts of the object may share the map.
	labels := maps.Clone(object.GetLabels())
	labels[LabelNetworkUID] = string(network.UID)
	object.SetLabels(labels)
}
