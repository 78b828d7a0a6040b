// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ProtocolSpec holds the parameters that all nodes must agree on.
type ProtocolSpec struct {
	// minBlockTimeMilliseconds is the least difference between the timestamps
	// of a block and its parent.
	// +optional
	// +kubebuilder:default=250
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=60000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	MinBlockTimeMilliseconds int32 `json:"minBlockTimeMilliseconds,omitempty"`

	// maxTransactionsPerChunk is the most transactions that a chunk holds.
	// +optional
	// +kubebuilder:default=20000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	MaxTransactionsPerChunk int32 `json:"maxTransactionsPerChunk,omitempty"`
}
