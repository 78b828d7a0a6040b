// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// FaultAction names what goes wrong.
// +kubebuilder:validation:Enum=Kill;Pause
type FaultAction string

// What goes wrong.
const (
	// FaultActionKill ends the process of a validator, without warning.
	FaultActionKill FaultAction = "Kill"
	// FaultActionPause stops the process of a validator as it is, and lets it go on after
	// the duration of the fault: its connections stay open and nobody answers.
	FaultActionPause FaultAction = "Pause"
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

// FaultSpec is a fault. It is a union: action says whether kill is set.
//
// +union
// +kubebuilder:validation:XValidation:rule="(self.action == 'Kill') == has(self.kill)",message="is required when action is Kill, and must not be set otherwise",fieldPath=".kill",reason="FieldValueInvalid"
type FaultSpec struct {
	// networkName is the name of the network.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	NetworkName string `json:"networkName,omitempty"`

	// validators are those that the fault is of.
	// +required
	Validators FaultValidators `json:"validators,omitzero"`

	// action is what goes wrong.
	// +required
	// +unionDiscriminator
	Action FaultAction `json:"action,omitempty"`

	// kill says more about action Kill.
	// +optional
	Kill *KillFault `json:"kill,omitempty"`

	// durationSeconds is how long the fault lasts. The chain under the fault is
	// measured for as long, also when validators are killed and started again at once.
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
