// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// TCPProfile names a set of TCP settings.
// +kubebuilder:validation:Enum=NodeDefault;HighThroughput
type TCPProfile string

const (
	// TCPProfileNodeDefault leaves the settings to the machine.
	TCPProfileNodeDefault TCPProfile = "NodeDefault"
	// TCPProfileHighThroughput is for validators that send each other much over
	// long distances: congestion control BBR, backlogs of 8096, MTU probing, no
	// slow start after idle, no metrics kept of old connections, and buffers of
	// up to 128 MiB.
	TCPProfileHighThroughput TCPProfile = "HighThroughput"
)

// TCPSpec says how the network stack of each validator's pod is set. Settings
// of the machine itself, such as its queueing discipline, are not part of it.
type TCPSpec struct {
	// profile is the set of TCP settings. Every profile but NodeDefault needs
	// machines whose kubelet allows the unsafe sysctls net.core.* and
	// net.ipv4.* and whose kernel allows bbr to everybody, and a namespace whose
	// Pod Security level is privileged.
	// +optional
	// +kubebuilder:default=NodeDefault
	Profile TCPProfile `json:"profile,omitempty"`
}
