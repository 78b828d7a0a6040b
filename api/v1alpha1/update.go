// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OnTrouble says what becomes of an update that does harm.
// +kubebuilder:validation:Enum=Pause;RollBack;Continue
type OnTrouble string

const (
	// OnTroublePause replaces no further node until the trouble is over.
	OnTroublePause OnTrouble = "Pause"
	// OnTroubleRollBack has the nodes run again what they ran before the update.
	OnTroubleRollBack OnTrouble = "RollBack"
	// OnTroubleContinue goes on regardless.
	OnTroubleContinue OnTrouble = "Continue"
)

// OnlyCopies says what becomes of the only copy of a shard's state.
// +kubebuilder:validation:Enum=Keep;Discard
type OnlyCopies string

const (
	// OnlyCopiesKeep leaves a node alone that has the only copy of its shard.
	OnlyCopiesKeep OnlyCopies = "Keep"
	// OnlyCopiesDiscard replaces such a node like any other. Its shard is lost.
	OnlyCopiesDiscard OnlyCopies = "Discard"
)

// UpdateSpec says how nodes are replaced that run something else than the spec
// says. It may change at any time, also while they are, and by itself replaces
// none.
type UpdateSpec struct {
	// atHeight schedules the start of an update: it begins when the chain has
	// finalised this height, and nodes are replaced from then on, in turns. Until
	// then nodes run what all of them ran last, also those that are made again, and
	// the network is ready if all else is as it should be. Without it, and where the height has passed, an update begins at once. One
	// that has begun goes on, whatever this says.
	// +optional
	// +kubebuilder:validation:Minimum=1
	AtHeight *int64 `json:"atHeight,omitempty"`

	// maxUnavailable bounds how many nodes are away at a time because of an
	// update. It defaults to half of the producers that consensus can do without,
	// which are (n - 1) / 3 of n, one chunk validator and one rpc node; more than
	// consensus can do without are never taken. The first node of an update goes
	// alone.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxUnavailable *int32 `json:"maxUnavailable,omitempty"`

	// onTrouble says what becomes of an update after which a node keeps ending or
	// does not come back, a shard has no chunk in more than 20 blocks, or no block
	// is finalised for deadlineSeconds.
	// +optional
	// +kubebuilder:default=Pause
	OnTrouble OnTrouble `json:"onTrouble,omitempty"`

	// deadlineSeconds is how long a node that was replaced may take to come back,
	// and the chain to finalise a block.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=86400
	DeadlineSeconds int32 `json:"deadlineSeconds,omitempty"`

	// onlyCopies says what becomes of a node that has the only copy of its shard's
	// state: the single producer of a shard in a network without spec.volume.
	// +optional
	// +kubebuilder:default=Keep
	OnlyCopies OnlyCopies `json:"onlyCopies,omitempty"`
}

// UpdatePhase is how far an update is.
// +kubebuilder:validation:Enum=Canary;Waves;Paused;RollingBack;RolledBack
type UpdatePhase string

const (
	// UpdateCanary is while the first node is replaced, and has to come back.
	UpdateCanary UpdatePhase = "Canary"
	// UpdateWaves is while several nodes are replaced at a time.
	UpdateWaves UpdatePhase = "Waves"
	// UpdatePaused is while no further node is replaced because of trouble.
	UpdatePaused UpdatePhase = "Paused"
	// UpdateRollingBack is while nodes are replaced to run again what they ran before.
	UpdateRollingBack UpdatePhase = "RollingBack"
	// UpdateRolledBack is when all nodes run again what they ran before, and not
	// what the spec says.
	UpdateRolledBack UpdatePhase = "RolledBack"
)

// UpdateStatus is what an update is doing.
type UpdateStatus struct {
	// phase is how far the update is.
	// +optional
	Phase UpdatePhase `json:"phase,omitempty"`

	// revision identifies what the spec asks of the nodes.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Revision string `json:"revision,omitempty"`

	// nodesUpdated is the number of nodes that run what they are to run.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodesUpdated *int32 `json:"nodesUpdated,omitempty"`

	// nodesBack is the number of those that are back: they take part in the chain
	// and have a complete copy of their shard.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodesBack *int32 `json:"nodesBack,omitempty"`

	// progressTime is when one of the two numbers last rose.
	// +optional
	ProgressTime metav1.Time `json:"progressTime,omitzero"`

	// startTime is when the update began.
	// +optional
	StartTime metav1.Time `json:"startTime,omitzero"`

	// startHeight is the finalised height at that time.
	// +optional
	// +kubebuilder:validation:Minimum=0
	StartHeight *int64 `json:"startHeight,omitempty"`

	// trouble is why the update is paused, or was rolled back.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Trouble string `json:"trouble,omitempty"`
}

// NodeRevision is what shapes the nodes of a network and can change.
type NodeRevision struct {
	// name identifies the revision: a hash of the rest.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`

	// node is spec.node, with the image that nodes are made with.
	// +optional
	Node NodeSpec `json:"node,omitzero"`

	// placement is spec.placement.
	// +optional
	Placement PlacementSpec `json:"placement,omitzero"`

	// podTemplate is spec.podTemplate.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`

	// tcp is spec.tcp.
	// +optional
	TCP TCPSpec `json:"tcp,omitzero"`

	// surroundings are what lies around the nodes. Without it, the revision is of an
	// operator that did not keep that.
	// +optional
	Surroundings *NodeSurroundings `json:"surroundings,omitempty"`
}

// NodeSurroundings are what lies around the nodes of a network.
type NodeSurroundings struct {
	// links is spec.links.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=136
	Links []LinkSpec `json:"links,omitempty"`

	// tracing is spec.tracing.
	// +optional
	Tracing *TracingSpec `json:"tracing,omitempty"`
}
