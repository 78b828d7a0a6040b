// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// NodeTuningSpec says which machines are tuned, and how.
type NodeTuningSpec struct {
	// nodeSelector are the labels that a machine must have. Without it, every
	// machine that runs Linux is tuned.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue())",message="must be labels: a qualified name, and a value of at most 63 letters, digits, '-', '_' and '.'",reason="FieldValueInvalid"
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// tolerations are the taints that do not keep a machine from being tuned.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// settings are what is set. Whatever is left out stays as it is.
	// +required
	Settings NodeTuningSettings `json:"settings,omitzero"`
}

// NodeTuningSettings are settings of a machine's kernel.
//
// Choosing a congestion control allows it to everybody, so the choice comes
// with the list of those that are allowed, which is put back.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.congestionControl) || has(self.allowedCongestionControls) && self.congestionControl in self.allowedCongestionControls",message="must be one of allowedCongestionControls",fieldPath=".congestionControl",reason="FieldValueInvalid"
type NodeTuningSettings struct {
	// allowedCongestionControls are the congestion controls that pods may choose:
	// net.ipv4.tcp_allowed_congestion_control.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	AllowedCongestionControls []CongestionControl `json:"allowedCongestionControls,omitempty"`

	// congestionControl is that of connections whose program chooses none, and
	// of new pods: net.ipv4.tcp_congestion_control.
	// +optional
	CongestionControl CongestionControl `json:"congestionControl,omitempty"`

	// defaultQdisc is the queueing discipline that interfaces begin with:
	// net.core.default_qdisc.
	// +optional
	DefaultQdisc Qdisc `json:"defaultQdisc,omitempty"`

	// interfaceQdisc is the queueing discipline of the interfaces of the
	// machine's default routes for IPv4. With several transmit queues, each of
	// these has it. An interface with a discipline that somebody else set up is
	// left alone.
	// +optional
	InterfaceQdisc Qdisc `json:"interfaceQdisc,omitempty"`

	// netdevMaxBacklogPackets is how many packets wait for a processor:
	// net.core.netdev_max_backlog.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	NetdevMaxBacklogPackets int32 `json:"netdevMaxBacklogPackets,omitempty"`

	// rmemMaxBytes is the largest receive buffer that a program may ask for:
	// net.core.rmem_max.
	// +optional
	// +kubebuilder:validation:Minimum=4096
	// +kubebuilder:validation:Maximum=2147483647
	RmemMaxBytes int32 `json:"rmemMaxBytes,omitempty"`

	// wmemMaxBytes is the largest send buffer that a program may ask for:
	// net.core.wmem_max.
	// +optional
	// +kubebuilder:validation:Minimum=8192
	// +kubebuilder:validation:Maximum=2147483647
	WmemMaxBytes int32 `json:"wmemMaxBytes,omitempty"`

	// tcpMaxSynBacklog is how many connections wait to be completed:
	// net.ipv4.tcp_max_syn_backlog.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	TCPMaxSynBacklog int32 `json:"tcpMaxSynBacklog,omitempty"`

	// tcpMetricsSave says whether a connection begins with what earlier ones to
	// the same address found: net.ipv4.tcp_no_metrics_save.
	// +optional
	TCPMetricsSave Switch `json:"tcpMetricsSave,omitempty"`

	// tcpMTUProbing says when connections search for the largest packet that
	// passes: net.ipv4.tcp_mtu_probing.
	// +optional
	TCPMTUProbing MTUProbing `json:"tcpMTUProbing,omitempty"`

	// tcpRmem are the sizes of receive buffers: net.ipv4.tcp_rmem.
	// +optional
	TCPRmem *BufferSizes `json:"tcpRmem,omitempty"`

	// tcpSlowStartAfterIdle says whether a connection that was idle starts slowly
	// again: net.ipv4.tcp_slow_start_after_idle.
	// +optional
	TCPSlowStartAfterIdle Switch `json:"tcpSlowStartAfterIdle,omitempty"`

	// tcpWmem are the sizes of send buffers: net.ipv4.tcp_wmem.
	// +optional
	TCPWmem *BufferSizes `json:"tcpWmem,omitempty"`
}

// CongestionControl is the kernel's name of a congestion control.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=15
// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9_]*$`
type CongestionControl string

// Qdisc is the kernel's name of a queueing discipline that needs no parameters.
// +kubebuilder:validation:Enum=fq;fq_codel;htb;pfifo_fast
type Qdisc string

// The queueing disciplines.
const (
	// QdiscFQ paces every flow, which BBR does best with.
	QdiscFQ Qdisc = "fq"
	// QdiscFQCodel shares a link fairly and keeps its queue short.
	QdiscFQCodel Qdisc = "fq_codel"
	// QdiscHTB sends everything straight on until somebody adds classes to it.
	QdiscHTB Qdisc = "htb"
	// QdiscPFIFOFast sends in the order of priorities and of arrival.
	QdiscPFIFOFast Qdisc = "pfifo_fast"
)

// Switch turns something on or off.
// +kubebuilder:validation:Enum=Enabled;Disabled
type Switch string

// The positions of a switch.
const (
	SwitchEnabled  Switch = "Enabled"
	SwitchDisabled Switch = "Disabled"
)

// MTUProbing says when connections search for the largest packet that passes.
// +kubebuilder:validation:Enum=Disabled;AfterBlackHole;Always
type MTUProbing string

// When connections probe.
const (
	MTUProbingDisabled       MTUProbing = "Disabled"
	MTUProbingAfterBlackHole MTUProbing = "AfterBlackHole"
	MTUProbingAlways         MTUProbing = "Always"
)

// BufferSizes are the sizes that the kernel gives a connection's buffer.
// +kubebuilder:validation:XValidation:rule="self.minBytes <= self.defaultBytes && self.defaultBytes <= self.maxBytes",message="must hold minBytes <= defaultBytes <= maxBytes",reason="FieldValueInvalid"
type BufferSizes struct {
	// minBytes is what a connection has even when memory is short.
	// +required
	// +kubebuilder:validation:Minimum=4096
	// +kubebuilder:validation:Maximum=2147483647
	MinBytes int32 `json:"minBytes,omitempty"`

	// defaultBytes is what a connection begins with.
	// +required
	// +kubebuilder:validation:Minimum=4096
	// +kubebuilder:validation:Maximum=2147483647
	DefaultBytes int32 `json:"defaultBytes,omitempty"`

	// maxBytes is how far the kernel lets it grow.
	// +required
	// +kubebuilder:validation:Minimum=4096
	// +kubebuilder:validation:Maximum=2147483647
	MaxBytes int32 `json:"maxBytes,omitempty"`
}
