// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ClusterStatus is a member cluster that holds a part of a network.
type ClusterStatus struct {
	// name is that of the cluster in spec.regions.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// domain is the domain of the cluster's DNS names, as its Secret last said.
	// The rest of the network goes on by it while the Secret is missing.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Domain string `json:"domain,omitempty"`

	// uid identifies the cluster: it is the UID of its namespace kube-system.
	// Nothing of the network is made in another cluster of that name, because the
	// validators and their disks are in this one.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
}
