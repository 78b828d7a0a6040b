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

// LostVolumes says what becomes of nodes whose disk is gone for good.
// +kubebuilder:validation:Enum=Replace;Report
type LostVolumes string

const (
	// LostVolumesReplace gives such a node a new disk.
	LostVolumesReplace LostVolumes = "Replace"
	// LostVolumesReport leaves it alone, and tells of it in the condition NodesReady.
	LostVolumesReport LostVolumes = "Report"
)

// HealingSpec says what becomes of nodes that run and answer, and do not keep up
// with the chain, and of those whose disk is gone. It may change at any time.
type HealingSpec struct {
	// mode says what becomes of a node that came no closer to the chain for
	// stuckAfterSeconds: Restart starts it again, on the disk that it has, in the
	// turns of an update and never while the chain stands still, nodes are
	// replaced or may be evicted, or a fault or a benchmark goes on. Report tells
	// of it in the condition KeepingUp.
	// +optional
	// +kubebuilder:default=Restart
	Mode HealingMode `json:"mode,omitempty"`

	// lostVolumes says what becomes of a node whose disk has been gone for
	// stuckAfterSeconds, because the cluster does not have the PersistentVolume of
	// its claim any more, or none of the machines that the volume is part of:
	// Replace deletes the claim and the pod, so that the node begins on an empty
	// disk and fetches its state from others. It waits while nobody else has a
	// complete copy of its shard, while the chain stands still, an update has yet to
	// replace the node, nodes may be evicted, or a fault or a benchmark goes on.
	// Report tells of it in the condition NodesReady.
	// +optional
	// +kubebuilder:default=Replace
	LostVolumes LostVolumes `json:"lostVolumes,omitempty"`

	// stuckAfterSeconds is how long a node comes no closer to the chain before it
	// is started again, and how long a disk has been gone before there is a new one.
	// After each start that did not help it is twice as long as before; after the
	// third, the node is left to a person.
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
