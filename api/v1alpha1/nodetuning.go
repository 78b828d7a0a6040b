// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KindNodeTuning is the kind of a NodeTuning.
const KindNodeTuning = "NodeTuning"

// NodeTuning is how the network stack of machines is set, outside of any pod.
// A machine has at most one.
//
// The name is a label of the pods that set it and the name of what runs them;
// hence a DNS label that begins with a letter, at most 63 characters long.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=nt,categories=shardyard
// +kubebuilder:printcolumn:name="Machines",type=integer,JSONPath=`.status.machinesWanted`,description="Machines that are selected"
// +kubebuilder:printcolumn:name="Tuned",type=integer,JSONPath=`.status.machinesTuned`,description="Machines that read back every setting"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every selected machine reads back every setting"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it does, or does not"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="What keeps the tuning from being ready"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that begins with a letter: at most 63 lower-case letters, digits and '-'",fieldPath=".metadata",reason="FieldValueInvalid"
type NodeTuning struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the tuning that is wanted.
	// +required
	Spec NodeTuningSpec `json:"spec,omitzero"`

	// status is the tuning as it was last observed.
	//
	// The default tells a new tuning from an observed one, so that whoever waits
	// for it does not take it for ready before the operator has seen it.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status NodeTuningStatus `json:"status,omitzero"`
}

// NodeTuningList is a list of NodeTunings.
//
// +kubebuilder:object:root=true
type NodeTuningList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the tunings.
	Items []NodeTuning `json:"items"`
}
