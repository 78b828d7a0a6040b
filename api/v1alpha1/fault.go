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
// It is read by shardyard fault run, for networks of this machine. No operator
// applies it, so clusters do not have this kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=shardyard
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
	// +optional
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
