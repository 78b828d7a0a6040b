// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HealingMode says what becomes of nodes that run and do not keep up.
// +kubebuilder:validation:Enum=Restart;Report
type HealingMode string

const (
	// HealingRestart starts such a node again, with the disk that it has.
	HealingRestart HealingMode = "Restart"
	// HealingReport leaves it alone, and tells of it in the condition KeepingUp.
	HealingReport HealingMode = "Report"
)

// HealingSpec says what becomes of nodes that run and answer, and do not keep up
// with the chain. It may change at any time.
type HealingSpec struct {
	// mode says what becomes of a node that came no closer to the chain for
	// stuckAfterSeconds: Restart starts it again, on the disk that it has, in the
	// turns of an update and never while the chain stands still, nodes are
	// replaced, machines are drained, or a fault or a benchmark goes on. Report
	// tells of it in the condition KeepingUp.
	// +optional
	// +kubebuilder:default=Restart
	Mode HealingMode `json:"mode,omitempty"`

	// stuckAfterSeconds is how long a node comes no closer to the chain before it
	// is started again. After each start that did not help it is twice as long as
	// before; after the third, the node is left to a person.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	StuckAfterSeconds int32 `json:"stuckAfterSeconds,omitempty"`
}

// NodeBehind is a node that does not keep up with the chain, or that was started
// again for it within the last hour.
type NodeBehind struct {
	// name is the name of the node.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// sinceTime is since when the node has come no closer to the chain, or, with
	// behindBlocks of 0, since when it keeps up again.
	// +optional
	SinceTime metav1.Time `json:"sinceTime,omitzero"`

	// behindBlocks is how many blocks it was behind then. It is empty of a node that
	// was started again and has yet to say where it is.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BehindBlocks *int64 `json:"behindBlocks,omitempty"`

	// finalizedHeight is the last finalised block that it had processed then.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FinalizedHeight *int64 `json:"finalizedHeight,omitempty"`

	// executedHeight is how far it had executed its shard then. It is empty of a node
	// that tracks no shard.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ExecutedHeight *int64 `json:"executedHeight,omitempty"`

	// restarts is how often it was started again since it last kept up for an hour.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Restarts int32 `json:"restarts,omitempty"`

	// restartTime is when it was last started again.
	// +optional
	RestartTime metav1.Time `json:"restartTime,omitzero"`
}
