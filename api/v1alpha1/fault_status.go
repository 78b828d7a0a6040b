// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FaultPhase is how far a fault of a cluster is.
// +kubebuilder:validation:Enum=Pending;Running;Stopping;Measured;NotMeasured
type FaultPhase string

// The phases of a fault. The last two are for good.
const (
	// FaultPending says that nothing was done to the network.
	FaultPending FaultPhase = "Pending"
	// FaultRunning says that a pod measures the chain before, during and after the
	// fault.
	FaultRunning FaultPhase = "Running"
	// FaultStopping says that the fault cannot be measured, and is taken back.
	FaultStopping FaultPhase = "Stopping"
	// FaultMeasured says that the fault is over, and what came of it is known.
	FaultMeasured FaultPhase = "Measured"
	// FaultNotMeasured says that the fault is over or never began, and that what came of
	// it is not known.
	FaultNotMeasured FaultPhase = "NotMeasured"
)

// FaultStatus is what came of a fault.
type FaultStatus struct {
	// conditions say what came of the fault: Effective, whether the chain felt it, and
	// Recovered, whether everything was as before when it was over. In a cluster, Ready
	// is True once that was measured; Stalled is True once it is known that it will not
	// be.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about; -1
	// until the operator observed the fault for the first time.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is how far the fault is, in a cluster.
	// +optional
	Phase FaultPhase `json:"phase,omitempty"`

	// problem is why what came of the fault is not measured; empty if it is.
	// +optional
	// +kubebuilder:validation:MaxLength=1100
	Problem string `json:"problem,omitempty"`

	// networkUID is the very network that the fault is of, and networkGeneration the
	// generation of its spec: one that changes meanwhile is not measured.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NetworkUID string `json:"networkUID,omitempty"`

	// networkGeneration is the generation of the network's spec.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NetworkGeneration int64 `json:"networkGeneration,omitempty"`

	// podUID is the very pod that measures the fault, and begins it if it is one of the
	// network. Another one of its name does not count.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	PodUID string `json:"podUID,omitempty"`

	// victims are the very pods that the operator deletes for action Kill, from when it
	// is about to. Those that take their places stay.
	// +optional
	// +listType=map
	// +listMapKey=validator
	// +kubebuilder:validation:MaxItems=4096
	Victims []FaultPod `json:"victims,omitempty"`

	// stopTime is when the operator began to take back a fault that cannot be measured.
	// +optional
	StopTime *metav1.Time `json:"stopTime,omitempty"`

	// startTime is when the fault began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// endTime is when the fault was over.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`

	// recoveryMilliseconds is how long after its end all of the validators took part
	// again; it is empty if they did not.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RecoveryMilliseconds *int64 `json:"recoveryMilliseconds,omitempty"`

	// validatorsTotal is how many validators the fault was of, in a cluster.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ValidatorsTotal int32 `json:"validatorsTotal,omitempty"`

	// validators are those that the fault was of, and what was seen of each. In a cluster
	// they are the first of them, as many as the last words of a pod have room for.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4096
	Validators []FaultValidatorStatus `json:"validators,omitempty"`

	// windows are what was measured of the chain before, during and after the fault.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=3
	Windows []FaultWindow `json:"windows,omitempty"`

	// felt are the measures by which the chain felt the fault.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	Felt []FaultMeasure `json:"felt,omitempty"`
}

// FaultPod is the pod of a validator.
type FaultPod struct {
	// validator is the name of the validator.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Validator string `json:"validator,omitempty"`

	// uid is that of the pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
}

// FaultValidatorStatus is what was seen of one validator while the fault lasted.
type FaultValidatorStatus struct {
	// name is the name of the validator.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// reached says whether the validator itself shows the fault.
	// +required
	Reached FaultReach `json:"reached,omitempty"`

	// asked is how often it was asked for its status.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Asked int32 `json:"asked"`

	// answered is how often it told its status.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Answered int32 `json:"answered"`

	// impaired is how often it told that its links to peers, its disk or its clock have
	// the fault, or of another version than before a Byzantine one.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Impaired int32 `json:"impaired"`
}

// FaultReach names whether a validator shows a fault.
// +kubebuilder:validation:Enum=Restarted;Unreachable;Impaired;NotReached
type FaultReach string

// Whether a validator shows a fault.
const (
	// FaultRestarted says that its process ended and another one took its place.
	FaultRestarted FaultReach = "Restarted"
	// FaultUnreachable says that it answered less than before the fault, by more than
	// chance.
	FaultUnreachable FaultReach = "Unreachable"
	// FaultImpaired says that it told, most of the times, that its links to peers, its
	// disk or its clock have the fault, or of another version than before.
	FaultImpaired FaultReach = "Impaired"
	// FaultNotReached says that it shows nothing of the fault.
	FaultNotReached FaultReach = "NotReached"
)

// FaultWindowName names a time that the chain was measured in.
// +kubebuilder:validation:Enum=Before;During;After
type FaultWindowName string

// The times that the chain was measured in.
const (
	// FaultBefore is the time before the fault.
	FaultBefore FaultWindowName = "Before"
	// FaultDuring is the time of the fault.
	FaultDuring FaultWindowName = "During"
	// FaultAfter is the time from which on all of the validators took part again.
	FaultAfter FaultWindowName = "After"
)

// FaultWindow is what was measured of the chain in one time.
type FaultWindow struct {
	// name is which time.
	// +required
	Name FaultWindowName `json:"name,omitempty"`

	// durationMilliseconds is how long it was.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DurationMilliseconds int64 `json:"durationMilliseconds"`

	// blocks is how many were finalised.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Blocks int32 `json:"blocks"`

	// blockTimeMilliseconds is the mean difference of their timestamps; empty for
	// fewer than two blocks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BlockTimeMilliseconds *int64 `json:"blockTimeMilliseconds,omitempty"`

	// longestWaitMilliseconds is the longest time in which no validator told of
	// another finalised block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	LongestWaitMilliseconds int64 `json:"longestWaitMilliseconds"`

	// shares are counts of blocks and chunks.
	// +optional
	// +listType=map
	// +listMapKey=measure
	// +kubebuilder:validation:MaxItems=8
	Shares []FaultShare `json:"shares,omitempty"`
}

// FaultMeasure names a way in which a chain feels a fault.
// +kubebuilder:validation:Enum=FewerBlocks;MissedTurns;MissedChunks;PartlyEndorsedChunks;SlowBlocks
type FaultMeasure string

// The ways in which a chain feels a fault.
const (
	// FaultFewerBlocks is that fewer blocks were finalised in the time, by a quarter or
	// more.
	FaultFewerBlocks FaultMeasure = "FewerBlocks"
	// FaultMissedTurns are chunks that are missing of those whose producer the fault
	// is of.
	FaultMissedTurns FaultMeasure = "MissedTurns"
	// FaultMissedChunks are chunks that are missing of all other chunks.
	FaultMissedChunks FaultMeasure = "MissedChunks"
	// FaultPartlyEndorsedChunks are chunks that a part of their committee did not
	// endorse, of those that were looked at.
	FaultPartlyEndorsedChunks FaultMeasure = "PartlyEndorsedChunks"
	// FaultSlowBlocks are blocks that took more than twice the median of before.
	FaultSlowBlocks FaultMeasure = "SlowBlocks"
)

// FaultShare is how many of how many.
type FaultShare struct {
	// measure is what is counted.
	// +required
	Measure FaultMeasure `json:"measure,omitempty"`

	// count is how many there were.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Count int32 `json:"count"`

	// of is how many there could have been.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Of int32 `json:"of"`
}
