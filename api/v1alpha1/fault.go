// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KindFault is the kind of a Fault.
const KindFault = "Fault"

// Fault is something that goes wrong with some validators of a network for a
// time, and what came of it: whether it reached the validators, whether the chain
// felt it, as measured from finalised blocks, and whether everything was as before
// when it was over.
//
// In a cluster, the operator has it happen to a network of its namespace, once. For
// networks of one machine, shardyard fault run reads it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=shardyard
// +kubebuilder:printcolumn:name="Network",type=string,JSONPath=`.spec.networkName`,description="The network that the fault is of"
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.action`,description="What goes wrong"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="How far the fault is"
// +kubebuilder:printcolumn:name="Effective",type=string,JSONPath=`.status.conditions[?(@.type=="Effective")].status`,description="Whether the chain felt the fault"
// +kubebuilder:printcolumn:name="Recovered",type=string,JSONPath=`.status.conditions[?(@.type=="Recovered")].status`,description="Whether everything was as before when it was over"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the fault is in its phase"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="What happens, or kept the fault from being measured"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that begins with a letter: at most 63 lower-case letters, digits and '-'",fieldPath=".metadata",reason="FieldValueInvalid"
type Fault struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the fault.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: another fault is another Fault",reason="FieldValueForbidden"
	Spec FaultSpec `json:"spec,omitzero"`

	// status is what came of the fault.
	//
	// The default tells a new fault from an observed one, so that whoever waits for it
	// does not take it for ended before the operator has seen it.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status FaultStatus `json:"status,omitzero"`
}

// FaultList is a list of Faults.
//
// +kubebuilder:object:root=true
type FaultList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the faults.
	Items []Fault `json:"items"`
}
