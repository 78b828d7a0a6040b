// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// LinkSpec is what lies between two regions: how late, how incompletely and how
// slowly everything arrives that their nodes send each other. Nodes do this to
// each other themselves, on top of what the network between them does.
//
// +kubebuilder:validation:MinProperties=2
type LinkSpec struct {
	// between are the names of the two regions. The same name twice is what lies
	// between the nodes of one region.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Between []string `json:"between,omitempty"`

	// delayMilliseconds is how much later everything arrives, one way: half of
	// what a round trip takes. Without it, nothing is delayed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	DelayMilliseconds int32 `json:"delayMilliseconds,omitempty"`

	// lossBasisPoints is how many of 10,000 segments of TCP are lost. Each is
	// sent again, which takes five quarters of a round trip and at least 10
	// milliseconds, and what was sent after it waits for it. Without it, nothing
	// is lost.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	LossBasisPoints int32 `json:"lossBasisPoints,omitempty"`

	// bandwidthMegabitsPerSecond is how much one node can send to another at
	// most, in millions of bits. With or without it, no more than 16 MiB are on
	// their way at a time.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	BandwidthMegabitsPerSecond int32 `json:"bandwidthMegabitsPerSecond,omitempty"`
}
