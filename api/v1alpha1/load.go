// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// LoadProfile names the way a load changes over time.
// +kubebuilder:validation:Enum=Ramp;Constant;FixedCount;ClosedLoop;Search;OpenLoop
type LoadProfile string

// The ways in which a load changes over time.
const (
	// LoadProfileRamp raises the load in steps.
	LoadProfileRamp LoadProfile = "Ramp"
	// LoadProfileConstant leaves it as it is.
	LoadProfileConstant LoadProfile = "Constant"
	// LoadProfileFixedCount is a number of transfers, as fast as the chain takes them.
	LoadProfileFixedCount LoadProfile = "FixedCount"
	// LoadProfileClosedLoop has a controller find the rate at which blocks take as
	// long as they should.
	LoadProfileClosedLoop LoadProfile = "ClosedLoop"
	// LoadProfileSearch finds the highest rate that the chain carries when it is
	// left as it is.
	LoadProfileSearch LoadProfile = "Search"
	// LoadProfileOpenLoop has users send transfers over the network, whatever they
	// are answered.
	LoadProfileOpenLoop LoadProfile = "OpenLoop"
)

// LoadSpec is a load of native transfers, which the validators sign themselves, or
// clients of theirs with profile OpenLoop. It is a union: profile says which of
// ramp, constant, fixedCount, closedLoop, search and openLoop is set.
//
// +union
// +kubebuilder:validation:XValidation:rule="(self.profile == 'Ramp') == has(self.ramp)",message="is required when profile is Ramp, and must not be set otherwise",fieldPath=".ramp",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.profile == 'Constant') == has(self.constant)",message="is required when profile is Constant, and must not be set otherwise",fieldPath=".constant",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.profile == 'FixedCount') == has(self.fixedCount)",message="is required when profile is FixedCount, and must not be set otherwise",fieldPath=".fixedCount",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.profile == 'ClosedLoop') == has(self.closedLoop)",message="is required when profile is ClosedLoop, and must not be set otherwise",fieldPath=".closedLoop",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.profile == 'Search') == has(self.search)",message="is required when profile is Search, and must not be set otherwise",fieldPath=".search",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="(self.profile == 'OpenLoop') == has(self.openLoop)",message="is required when profile is OpenLoop, and must not be set otherwise",fieldPath=".openLoop",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.signing) || self.signing != 'Before' || self.profile in ['Ramp', 'Constant', 'FixedCount']",message="must be Live unless profile is Ramp, Constant or FixedCount: of no other load is it known before how many transfers it takes",fieldPath=".signing",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.profile != 'FixedCount' || has(self.signing) && self.signing == 'Before'",message="must be Before when profile is FixedCount: producers sign so many transfers, and no more, before the load begins",fieldPath=".signing",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.profile != 'OpenLoop' || !has(self.workload) || self.workload.senders == 'Uniform'",message="must be Uniform when profile is OpenLoop: each user sends as often as the others",fieldPath=".workload.senders",reason="FieldValueInvalid"
type LoadSpec struct {
	// profile is the way the load changes over time.
	// +required
	// +unionDiscriminator
	Profile LoadProfile `json:"profile,omitempty"`

	// ramp holds the steps of profile Ramp.
	// +optional
	Ramp *RampLoad `json:"ramp,omitempty"`

	// constant holds the rate of profile Constant.
	// +optional
	Constant *ConstantLoad `json:"constant,omitempty"`

	// fixedCount holds the number of transfers of profile FixedCount.
	// +optional
	FixedCount *FixedCountLoad `json:"fixedCount,omitempty"`

	// closedLoop holds the aim and the bounds of profile ClosedLoop.
	// +optional
	ClosedLoop *ClosedLoopLoad `json:"closedLoop,omitempty"`

	// search holds the bounds and the steps of profile Search.
	// +optional
	Search *SearchLoad `json:"search,omitempty"`

	// openLoop holds the users of profile OpenLoop.
	// +optional
	OpenLoop *OpenLoopLoad `json:"openLoop,omitempty"`

	// workload says who pays whom. Without it, few accounts are in most transfers.
	// +optional
	Workload *Workload `json:"workload,omitempty"`

	// signing is when producers sign the transfers. Before takes signing out of what
	// is measured of them: each signs what the load takes until the measurement is
	// complete, and some more, and keeps it on its disk, 153 bytes each; then the load
	// begins. Of profile FixedCount, which has to be signed so, they sign no more than it
	// has. A producer signs at most 100000000 before. It is for the runs of a Benchmark.
	// Without it, signing is Live.
	// +optional
	Signing Signing `json:"signing,omitempty"`
}

// Signing names when transfers are signed.
// +kubebuilder:validation:Enum=Live;Before
type Signing string

// When transfers are signed.
const (
	// SigningLive has a transfer signed when it is due.
	SigningLive Signing = "Live"
	// SigningBefore has all of them signed before the load begins.
	SigningBefore Signing = "Before"
)

// RampLoad is a load in steps. The rate of the last step is kept once all
// steps have run.
type RampLoad struct {
	// steps are the rates, one after the other.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Steps []RampStep `json:"steps,omitempty"`
}

// RampStep is one rate, held for some time.
type RampStep struct {
	// transfersPerSecond is the rate of the whole network, divided evenly among
	// its producers. A producer signs at most 1000000 transfers per second.
	// +required
	// +kubebuilder:validation:Minimum=0
	TransfersPerSecond *int64 `json:"transfersPerSecond,omitempty"`

	// durationSeconds is how long the rate is held before the next step.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DurationSeconds int32 `json:"durationSeconds,omitempty"`
}

// ConstantLoad is a load that stays as it is.
type ConstantLoad struct {
	// transfersPerSecond is the rate of the whole network, divided evenly among
	// its producers. A producer signs at most 1000000 transfers per second.
	// +required
	// +kubebuilder:validation:Minimum=0
	TransfersPerSecond *int64 `json:"transfersPerSecond,omitempty"`
}

// FixedCountLoad is a load of so many transfers, which come into the pools of the
// producers as fast as these have room for them. What is measured lasts from the
// beginning of the load to the block whose headers commit to the execution of the last
// of them, durationSeconds at most.
type FixedCountLoad struct {
	// transfers is how many transfers there are, divided evenly among the producers of
	// the network: none has more than one above any other. A producer signs at most
	// 100000000 before the load begins.
	// +required
	// +kubebuilder:validation:Minimum=1
	Transfers int64 `json:"transfers,omitempty"`
}

// ClosedLoopLoad is a load whose rate follows from how the chain takes it: a
// controller raises it while blocks come faster than they should, and lowers it
// while they come slower, while more waits in the pools than should, or while
// chunks are missed.
//
// +kubebuilder:validation:XValidation:rule="self.initialTransfersPerSecond <= self.maxTransfersPerSecond",message="must be at most maxTransfersPerSecond",fieldPath=".initialTransfersPerSecond",reason="FieldValueInvalid"
type ClosedLoopLoad struct {
	// targetBlockTimeMilliseconds is what blocks should take, in the mean. It has
	// to be longer than the least block time of the network: at that, blocks say
	// nothing of how much more the chain could take.
	// +required
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:Maximum=120000
	TargetBlockTimeMilliseconds int32 `json:"targetBlockTimeMilliseconds,omitempty"`

	// initialTransfersPerSecond is the rate of the whole network that the
	// controller begins with.
	// +required
	// +kubebuilder:validation:Minimum=1
	InitialTransfersPerSecond int64 `json:"initialTransfersPerSecond,omitempty"`

	// maxTransfersPerSecond is the most that it asks for. A producer signs at most
	// 1000000 transfers per second.
	// +required
	// +kubebuilder:validation:Minimum=1
	MaxTransfersPerSecond int64 `json:"maxTransfersPerSecond,omitempty"`

	// maxBacklogBlocks is how much may wait in the pools: as many transfers as are
	// executed in so many target block times.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxBacklogBlocks int32 `json:"maxBacklogBlocks,omitempty"`

	// maxSettleSeconds is how long the controller may take until the rate is
	// steady. A run that is not measured by then does not count.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	MaxSettleSeconds int32 `json:"maxSettleSeconds,omitempty"`
}

// SearchLoad is a load that is held at one rate after the other, until the highest
// one is known that the chain carries. A rate holds when, in the second half of its
// step, at least 98 in a hundred transfers that are offered are executed, what waits
// in the pools grows by at most a block's and 3 in a hundred of what is offered, at
// most one in a hundred chunks is missed, and generators are in time. Rates are doubled until one does not hold, or
// halved until one does, and then halved in between. After a rate that does not
// hold, nothing is offered until the pools are empty.
//
// +kubebuilder:validation:XValidation:rule="self.initialTransfersPerSecond <= self.maxTransfersPerSecond",message="must be at most maxTransfersPerSecond",fieldPath=".initialTransfersPerSecond",reason="FieldValueInvalid"
type SearchLoad struct {
	// initialTransfersPerSecond is the rate of the whole network that the search
	// begins with.
	// +required
	// +kubebuilder:validation:Minimum=1
	InitialTransfersPerSecond int64 `json:"initialTransfersPerSecond,omitempty"`

	// maxTransfersPerSecond is the highest rate that it tries.
	// +required
	// +kubebuilder:validation:Minimum=1
	MaxTransfersPerSecond int64 `json:"maxTransfersPerSecond,omitempty"`

	// stepSeconds is how long a rate is held until it is known whether it holds. It
	// has to be at least 20 of the least block times of the network.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=3600
	StepSeconds int32 `json:"stepSeconds,omitempty"`

	// precisionPercent is by how much the lowest rate that is known not to hold may
	// be above the highest one that is known to hold, when the search ends.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	PrecisionPercent int32 `json:"precisionPercent,omitempty"`

	// maxSearchSeconds is how long the search may take. A run that is not measured
	// by then does not count.
	// +optional
	// +kubebuilder:default=900
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	MaxSearchSeconds int32 `json:"maxSearchSeconds,omitempty"`

	// offeredPercent is how much of the rate that was found is offered from then
	// on, while the run is measured: 200 to see what the chain does under twice as
	// much as it carries.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	OfferedPercent int32 `json:"offeredPercent,omitempty"`
}

// OpenLoopLoad is a load of users who each send one signed transfer in a fixed time,
// in a request of its own, and do not wait for what becomes of it. They are processes
// beside the network, and talk to its rpc nodes. Where it has none, they talk to its
// producers, on one machine; in a cluster it has to have some. What a full pool refuses
// they do not send again.
type OpenLoopLoad struct {
	// everyMilliseconds is the time between two transfers of a user. The turns of the
	// users are evenly spread over it.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	EveryMilliseconds int32 `json:"everyMilliseconds,omitempty"`

	// steps are the numbers of users, one after the other. Each step lasts for the
	// warm-up and the duration of the benchmark, and the next one begins once it is
	// known what became of every transfer, or nothing more becomes known.
	// +required
	// +listType=map
	// +listMapKey=users
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Steps []OpenLoopStep `json:"steps,omitempty"`
}

// OpenLoopStep is a number of users, held for some time.
type OpenLoopStep struct {
	// users is how many there are, each with an account of its own.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	Users int32 `json:"users,omitempty"`
}

// SenderDistribution names the way senders are drawn from the accounts of a
// producer.
// +kubebuilder:validation:Enum=ZipfMandelbrot;Uniform
type SenderDistribution string

// The ways in which senders are drawn.
const (
	// SendersZipfMandelbrot has few accounts sign most transfers: the k-th of them
	// has the weight 1/(k + 2.7), counted from 1.
	SendersZipfMandelbrot SenderDistribution = "ZipfMandelbrot"
	// SendersUniform has all sign equally many.
	SendersUniform SenderDistribution = "Uniform"
)

// ReceiverDistribution names the way receivers are drawn from the accounts of
// all shards.
// +kubebuilder:validation:Enum=ZipfMandelbrot;Uniform;HotAccount;OneToOne
type ReceiverDistribution string

// The ways in which receivers are drawn.
const (
	// ReceiversZipfMandelbrot has few accounts be paid most, in an order of
	// popularity that each producer has for itself.
	ReceiversZipfMandelbrot ReceiverDistribution = "ZipfMandelbrot"
	// ReceiversUniform has all be paid equally often.
	ReceiversUniform ReceiverDistribution = "Uniform"
	// ReceiversHotAccount has one account of the network be paid by all.
	ReceiversHotAccount ReceiverDistribution = "HotAccount"
	// ReceiversOneToOne has each account be paid by one other.
	ReceiversOneToOne ReceiverDistribution = "OneToOne"
)

// Workload says who pays whom.
//
// +kubebuilder:validation:XValidation:rule="!has(self.withinShardPercent) || !(self.receivers in ['HotAccount', 'OneToOne'])",message="has no effect with receivers HotAccount or OneToOne",fieldPath=".withinShardPercent",reason="FieldValueForbidden"
type Workload struct {
	// senders is how the accounts that pay are drawn.
	// +optional
	// +kubebuilder:default=ZipfMandelbrot
	Senders SenderDistribution `json:"senders,omitempty"`

	// receivers is how the accounts that are paid are drawn.
	// +optional
	// +kubebuilder:default=ZipfMandelbrot
	Receivers ReceiverDistribution `json:"receivers,omitempty"`

	// withinShardPercent is how many in a hundred transfers stay within the shard
	// of their sender. Without it, shards are paid as their accounts are drawn: of
	// n shards, about one in n transfers stays.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	WithinShardPercent *int32 `json:"withinShardPercent,omitempty"`
}
