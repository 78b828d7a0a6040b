// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ShardNetworkStatus is the network as it was last observed. Rates and heights
// come from finalised blocks, never from what was offered.
type ShardNetworkStatus struct {
	// conditions are the latest observations of the network's state.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=24
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is
	// about; -1 until the network was observed for the first time.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// operatorVersion is the version of the operator that observed the network: that
	// of a release, or development.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	OperatorVersion string `json:"operatorVersion,omitempty"`

	// nodesReady is the number of nodes that take part in the chain.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodesReady *int32 `json:"nodesReady,omitempty"`

	// nodesWanted is the number of nodes of the plan.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodesWanted *int32 `json:"nodesWanted,omitempty"`

	// nodesSummary is nodesReady of nodesWanted, as tables show it: 3/4.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	NodesSummary string `json:"nodesSummary,omitempty"`

	// shardsProducing is the number of shards whose chunks reach finalised
	// blocks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ShardsProducing *int32 `json:"shardsProducing,omitempty"`

	// height is the highest block that any node has seen.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Height *int64 `json:"height,omitempty"`

	// finalizedHeight is the highest finalised block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FinalizedHeight *int64 `json:"finalizedHeight,omitempty"`

	// highestFinalizedHeight is the highest finalised block that any node ever told
	// of. Other than finalizedHeight, it stays while no node answers: atHeight of
	// spec.update that has passed once has passed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	HighestFinalizedHeight *int64 `json:"highestFinalizedHeight,omitempty"`

	// blockTimeMilliseconds is the mean time between the latest finalised
	// blocks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BlockTimeMilliseconds *int32 `json:"blockTimeMilliseconds,omitempty"`

	// transfersPerSecond is the rate of executed transfers over the latest
	// finalised blocks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TransfersPerSecond *int64 `json:"transfersPerSecond,omitempty"`

	// genesisHash is the hash of the genesis document, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	GenesisHash string `json:"genesisHash,omitempty"`

	// nodeImage is the container image that nodes are made with.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	NodeImage string `json:"nodeImage,omitempty"`

	// clusters are the member clusters that hold parts of the network, as they
	// were last known.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Clusters []ClusterStatus `json:"clusters,omitempty"`

	// update is what an update of the nodes is doing. It is empty while there is
	// none.
	// +optional
	Update *UpdateStatus `json:"update,omitempty"`

	// nodesBehind are nodes that do not keep up with the chain, or were started again
	// for it: the first 64. Nobody is counted while the chain stands still, nodes are
	// replaced, machines are drained, or a fault or a benchmark goes on.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	NodesBehind []NodeBehind `json:"nodesBehind,omitempty"`

	// stableRevision is what all nodes ran when the last update was complete: what
	// onTrouble of spec.update goes back to.
	// +optional
	StableRevision *NodeRevision `json:"stableRevision,omitempty"`

	// defaultNodeImage is the image that the operator named when the spec began to
	// name none. It stays the network's until the spec names one.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DefaultNodeImage string `json:"defaultNodeImage,omitempty"`

	// formats is the version of what the nodes send each other and keep on disk,
	// as they say.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Formats *int32 `json:"formats,omitempty"`

	// imageCheck is what was found out of the image that the spec names, before
	// any node is made with it.
	// +optional
	ImageCheck *ImageCheck `json:"imageCheck,omitempty"`

	// load is the network's own load. It is empty while there is none.
	// +optional
	Load *LoadStatus `json:"load,omitempty"`

	// cost is what the network is estimated to cost.
	// +optional
	Cost *CostStatus `json:"cost,omitempty"`

	// endTime is when the lifetime of the network ends. It is empty without a
	// lifetime.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
}

// ImageCheck is what an image says of its nodes.
type ImageCheck struct {
	// image is the container image.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// formats is the version of what its nodes send each other and keep on disk.
	// It is empty when the image does not say.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Formats *int32 `json:"formats,omitempty"`
}

// LoadStatus is what the producers of a network are asked to sign. It says
// nothing of what the chain executes: that is transfersPerSecond of the status.
type LoadStatus struct {
	// schedule identifies the load of the spec that began at startTime: the
	// begin of a hash of it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Schedule string `json:"schedule,omitempty"`

	// startTime is when the load began: when the network was ready for it.
	// +optional
	StartTime metav1.Time `json:"startTime,omitzero"`

	// offeredTransfersPerSecond is the rate that the producers sign together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OfferedTransfersPerSecond *int64 `json:"offeredTransfersPerSecond,omitempty"`
}
