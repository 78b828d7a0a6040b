// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KindShardNetwork is the kind of a ShardNetwork.
const KindShardNetwork = "ShardNetwork"

// ShardNetwork is one sharded chain: its shards, the validators that serve
// them, the regions these run in, and the load they carry.
//
// The name is the beginning of every validator's name, which is a label value,
// a host name and the name of a Service; hence a DNS label that begins with a
// letter, at most 40 characters long.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sn,categories=shardyard
// +kubebuilder:printcolumn:name="Shards",type=integer,JSONPath=`.spec.shards`,description="Shards of the chain"
// +kubebuilder:printcolumn:name="Nodes",type=string,JSONPath=`.status.nodesSummary`,description="Nodes that take part in the chain, of those of the plan"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the network runs as its spec says"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it does, or does not"
// +kubebuilder:printcolumn:name="TPS",type=integer,JSONPath=`.status.transfersPerSecond`,description="Transfers executed per second, from finalised blocks"
// +kubebuilder:printcolumn:name="Block-time",type=integer,JSONPath=`.status.blockTimeMilliseconds`,description="Mean time between blocks, in milliseconds"
// +kubebuilder:printcolumn:name="Height",type=integer,JSONPath=`.status.height`,description="Height of the chain"
// +kubebuilder:printcolumn:name="USD-per-hour",type=string,priority=1,JSONPath=`.status.cost.usdPerHour`,description="Estimated cost while the network runs"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="What keeps the network from being ready"
// +kubebuilder:printcolumn:name="Ends",type=string,priority=1,JSONPath=`.status.endTime`,description="When the lifetime of the network ends"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name must be at most 40 characters: validators' names begin with it",fieldPath=".metadata",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that begins with a letter: lower-case letters, digits and '-'",fieldPath=".metadata",reason="FieldValueInvalid"
type ShardNetwork struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the network that is wanted.
	// +required
	Spec ShardNetworkSpec `json:"spec,omitzero"`

	// status is the network as it was last observed.
	//
	// The default tells a new network from an observed one, so that whoever
	// waits for it does not take it for ready before the operator has seen it.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status ShardNetworkStatus `json:"status,omitzero"`
}

// ShardNetworkList is a list of ShardNetworks.
//
// +kubebuilder:object:root=true
type ShardNetworkList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the networks.
	Items []ShardNetwork `json:"items"`
}
