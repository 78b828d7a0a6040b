// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// FaultAction names what goes wrong.
// +kubebuilder:validation:Enum=Kill;Pause;Partition;Delay;Loss;SlowDisk;FullDisk;WrongClock;Byzantine
type FaultAction string

// What goes wrong.
const (
	// FaultActionKill ends the process of a validator, without warning.
	FaultActionKill FaultAction = "Kill"
	// FaultActionPause stops the process of a validator as it is, and lets it go on after
	// the duration of the fault: its connections stay open and nobody answers.
	FaultActionPause FaultAction = "Pause"
	// FaultActionPartition cuts the links between validators and others: nothing passes
	// in either direction. Connections stay open as long as both ends bear it, and what
	// they carry arrives when the fault is over.
	FaultActionPartition FaultAction = "Partition"
	// FaultActionDelay has all that validators send and receive take longer.
	FaultActionDelay FaultAction = "Delay"
	// FaultActionLoss has segments of all that validators send and receive be lost, and
	// sent again.
	FaultActionLoss FaultAction = "Loss"
	// FaultActionSlowDisk has all that validators write to their disks take longer.
	FaultActionSlowDisk FaultAction = "SlowDisk"
	// FaultActionFullDisk has validators find no room on their disks. A validator that
	// cannot write ends, and says that its disk is full. One that is started again before
	// the fault is over waits for its end, which nobody can bring about earlier then.
	FaultActionFullDisk FaultAction = "FullDisk"
	// FaultActionWrongClock has the clocks of validators be wrong: they jump when the fault
	// begins, and back when it ends.
	FaultActionWrongClock FaultAction = "WrongClock"
	// FaultActionByzantine has another program take the place of validators, with their
	// keys and a copy of what they keep: a build of the node that gets something wrong, or
	// a program that keeps to no rule. Afterwards the validators go on from what they kept
	// themselves.
	FaultActionByzantine FaultAction = "Byzantine"
)

// FaultRestart names when what keeps a killed validator running starts it again.
// +kubebuilder:validation:Enum=AtOnce;AfterDuration
type FaultRestart string

// When a killed validator is started again.
const (
	// FaultRestartAtOnce is as soon as after any other end.
	FaultRestartAtOnce FaultRestart = "AtOnce"
	// FaultRestartAfterDuration is after the duration of the fault.
	FaultRestartAfterDuration FaultRestart = "AfterDuration"
)

// FaultRole names what the selected validators do for the network.
// +kubebuilder:validation:Enum=Producer;ChunkValidator
type FaultRole string

// What validators do for the network.
const (
	// FaultProducer is a producer.
	FaultProducer FaultRole = "Producer"
	// FaultChunkValidator is a chunk validator.
	FaultChunkValidator FaultRole = "ChunkValidator"
)

// FaultSpec is a fault. It is a union: action says which of kill, partition, delay, loss,
// slowDisk, wrongClock and byzantine may be set.
//
// +union
// +kubebuilder:validation:XValidation:rule="(self.action == 'Kill') == has(self.kill)",message="is required when action is Kill, and must not be set otherwise",fieldPath=".kill",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.partition) || self.action == 'Partition'",message="must not be set unless action is Partition",fieldPath=".partition",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.action == 'Delay') == has(self.delay)",message="is required when action is Delay, and must not be set otherwise",fieldPath=".delay",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.action == 'Loss') == has(self.loss)",message="is required when action is Loss, and must not be set otherwise",fieldPath=".loss",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.action == 'SlowDisk') == has(self.slowDisk)",message="is required when action is SlowDisk, and must not be set otherwise",fieldPath=".slowDisk",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.action == 'WrongClock') == has(self.wrongClock)",message="is required when action is WrongClock, and must not be set otherwise",fieldPath=".wrongClock",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.action == 'Byzantine') == has(self.byzantine)",message="is required when action is Byzantine, and must not be set otherwise",fieldPath=".byzantine",reason="FieldValueInvalid"
type FaultSpec struct {
	// networkName is the name of the network, which is in the namespace of the fault.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	NetworkName string `json:"networkName,omitempty"`

	// validators are those that the fault is of.
	// +required
	Validators FaultValidators `json:"validators,omitzero"`

	// action is what goes wrong. With FullDisk, a validator ends as
	// soon as it has to write, and one that is started again waits until the fault is over.
	// +required
	// +unionDiscriminator
	Action FaultAction `json:"action,omitempty"`

	// kill says more about action Kill.
	// +optional
	Kill *KillFault `json:"kill,omitempty"`

	// partition says more about action Partition. Without it, the validators are cut off
	// from all others.
	// +optional
	Partition *PartitionFault `json:"partition,omitempty"`

	// delay says more about action Delay.
	// +optional
	Delay *DelayFault `json:"delay,omitempty"`

	// loss says more about action Loss.
	// +optional
	Loss *LossFault `json:"loss,omitempty"`

	// slowDisk says more about action SlowDisk.
	// +optional
	SlowDisk *SlowDiskFault `json:"slowDisk,omitempty"`

	// wrongClock says more about action WrongClock.
	// +optional
	WrongClock *WrongClockFault `json:"wrongClock,omitempty"`

	// byzantine says more about action Byzantine.
	// +optional
	Byzantine *ByzantineFault `json:"byzantine,omitempty"`

	// durationSeconds is how long the fault lasts. The chain is measured while all
	// validators have it: from when the last one was told, until it is over for the first.
	// When validators are killed, it is measured for as long from when the first one is,
	// also when they are started again at once.
	// +required
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	DurationSeconds int32 `json:"durationSeconds,omitempty"`

	// baselineSeconds is how long the chain is measured before the fault, for
	// comparison; longer if it makes fewer than 20 blocks in that time.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	BaselineSeconds int32 `json:"baselineSeconds,omitempty"`

	// recoverySeconds is how long it may take after the fault until everything is as
	// before: the validators take part again, and the chain is no worse than before the
	// fault.
	// +optional
	// +kubebuilder:default=120
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	RecoverySeconds int32 `json:"recoverySeconds,omitempty"`
}

// FaultValidators select validators of a network: those of which all holds that is
// set.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.shard) || !has(self.role) || self.role == 'Producer'",message="cannot be set for chunk validators: they have no shard",fieldPath=".shard",reason="FieldValueInvalid"
type FaultValidators struct {
	// names are the names of validators, as shardyard plan lists them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Names []string `json:"names,omitempty"`

	// region is the name of the region that they are in.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Region string `json:"region,omitempty"`

	// shard is the shard that they produce.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999
	Shard *int32 `json:"shard,omitempty"`

	// role is what they do for the network.
	// +optional
	Role FaultRole `json:"role,omitempty"`

	// count is how many of them, the first ones in the order of the plan: producers by
	// shard and slot, and then chunk validators. Without it, all.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	Count int32 `json:"count,omitempty"`
}

// KillFault says more about killing validators.
type KillFault struct {
	// restart is when a validator is started again.
	// +required
	Restart FaultRestart `json:"restart,omitempty"`
}

// PartitionFault says more about cutting validators off.
type PartitionFault struct {
	// from are those that the validators are cut off from. Nobody can be on both sides.
	// +required
	From FaultValidators `json:"from,omitzero"`
}

// DelayFault says more about delaying what validators send and receive.
type DelayFault struct {
	// milliseconds is how much later everything arrives, one way, on top of what the
	// links of the network do.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	Milliseconds int32 `json:"milliseconds,omitempty"`
}

// LossFault says more about losing what validators send and receive.
type LossFault struct {
	// basisPoints is how many of 10,000 segments of TCP are lost and sent again, on top
	// of those that the links of the network lose.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	BasisPoints int32 `json:"basisPoints,omitempty"`
}

// SlowDiskFault says more about slowing the disks of validators down.
type SlowDiskFault struct {
	// milliseconds is how much longer every write and every sync of a disk takes, each
	// on its own. Reading is as fast as before.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Milliseconds int32 `json:"milliseconds,omitempty"`
}

// WrongClockFault says more about having the clocks of validators be wrong.
//
// +kubebuilder:validation:XValidation:rule="self.offsetMilliseconds != 0",message="must not be 0",fieldPath=".offsetMilliseconds",reason="FieldValueInvalid"
type WrongClockFault struct {
	// offsetMilliseconds is how far a clock is ahead of the right time; behind it if
	// negative.
	// +required
	// +kubebuilder:validation:Minimum=-60000
	// +kubebuilder:validation:Maximum=60000
	OffsetMilliseconds int32 `json:"offsetMilliseconds,omitempty"`
}

// ByzantineFault says more about having another program take the place of validators.
type ByzantineFault struct {
	// program is the path of the program, from where shardyard fault run is started; in a
	// cluster, the name of a file beside the program shardnode in the image of the nodes.
	// It is told what a node is told. A build of the node shows the fault by telling of
	// another version than the validator did before.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Program string `json:"program,omitempty"`

	// arguments come before those that a node is started with.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=256
	Arguments []string `json:"arguments,omitempty"`
}
