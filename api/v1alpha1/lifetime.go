// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// LifetimeAction says what becomes of a network at the end of its lifetime.
// +kubebuilder:validation:Enum=Stop;Delete
type LifetimeAction string

const (
	// LifetimeStop ends the validators and keeps their disks, the keys and the
	// genesis document: with a longer lifetime the chain goes on.
	LifetimeStop LifetimeAction = "Stop"
	// LifetimeDelete deletes the network; what becomes of its disks is said by
	// spec.volume.retention.
	LifetimeDelete LifetimeAction = "Delete"
)

// LifetimeSpec ends a network after a time.
type LifetimeSpec struct {
	// durationSeconds is how long the network lives, from its creation: what is
	// not ready yet costs as much. It may change at any time, also after the end.
	// +required
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=31536000
	DurationSeconds int32 `json:"durationSeconds,omitempty"`

	// action says what becomes of the network then.
	// +required
	Action LifetimeAction `json:"action,omitempty"`
}
