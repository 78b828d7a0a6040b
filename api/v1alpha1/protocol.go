// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ProtocolSpec holds the parameters that all nodes must agree on.
// +kubebuilder:validation:XValidation:rule="!has(self.leastBalance) || self.leastBalance < 1 || self.executionLag > 1 || self.maxTransactionsPerChunk <= 21475",messageExpression="'must be at most 21475 with a leastBalance of %d: where accounts can be removed, state witnesses are larger'.format([self.leastBalance])",message="must be at most 21475 with a leastBalance above 0",fieldPath=".maxTransactionsPerChunk",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.executionLag) || self.executionLag < 2 || self.executionLag > 4 || self.maxTransactionsPerChunk <= (has(self.leastBalance) && self.leastBalance > 0 ? [8295, 4497, 2850] : [11938, 6087, 3689])[self.executionLag - 2]",messageExpression="'must be at most %d with an executionLag of %d and a leastBalance of %d: a state witness shows as many executions'.format([(has(self.leastBalance) && self.leastBalance > 0 ? [8295, 4497, 2850] : [11938, 6087, 3689])[self.executionLag - 2], self.executionLag, has(self.leastBalance) ? self.leastBalance : 0])",message="must be less with an executionLag above 1",fieldPath=".maxTransactionsPerChunk",reason="FieldValueInvalid"
type ProtocolSpec struct {
	// executionLag is how many heights below a chunk are those whose results its
	// header is the first to commit to. With 1, a chunk waits for the execution of
	// the one before it; with more, a slow execution delays no block unless it takes
	// as many, but what a transfer came to is known as much later, and chunks hold
	// less: see maxTransactionsPerChunk.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	ExecutionLag int32 `json:"executionLag,omitempty"`

	// minBlockTimeMilliseconds is the least difference between the timestamps
	// of a block and its parent.
	// +optional
	// +kubebuilder:default=250
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=60000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	MinBlockTimeMilliseconds int32 `json:"minBlockTimeMilliseconds,omitempty"`

	// chunkWaitMilliseconds is how long the leader of a block waits for the chunks
	// of shards that are late. After it, a shard has missed its chunk. Under more
	// load than it can carry, a network with a long wait makes blocks more slowly,
	// and one with a short wait misses chunks; the wait is also what each turn of a
	// producer that is down costs.
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=60000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	ChunkWaitMilliseconds int32 `json:"chunkWaitMilliseconds,omitempty"`

	// maxTransactionsPerChunk is the most transactions that a chunk holds: at
	// most 32768 with an executionLag of 1, 11938 with 2, 6087 with 3 and 3689 with
	// 4; with a leastBalance above 0, 21475, 8295, 4497 and 2850. The state witness
	// of a larger one could exceed 64 MiB, and nobody could check it. All
	// transactions have 153 bytes, so it is a limit in bytes as well.
	// +optional
	// +kubebuilder:default=20000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32768
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	MaxTransactionsPerChunk int32 `json:"maxTransactionsPerChunk,omitempty"`

	// mandatesPerShard is the number of mandates that are dealt to each shard at
	// every height: equal parts of all stake, whose holders check and endorse the
	// shard's chunk. A chunk needs the endorsement of more than two thirds of
	// them.
	//
	// Many keep adversaries away, and validators that are down from costing
	// chunks: of four validators, one that is down loses half of all chunks with
	// 6 mandates a shard and one in a hundred with 64; a hundred mandates keep a
	// third of the stake from passing a false chunk for centuries. Few are cheap:
	// a validator with mandates of several shards executes the chunks of all of
	// them. docs/protocol.md has the figures.
	// +optional
	// +kubebuilder:default=64
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	MandatesPerShard int32 `json:"mandatesPerShard,omitempty"`

	// epochLengthBlocks is the number of blocks of an epoch: how long mandates
	// are dealt from one seed, which the chain itself makes. Whoever knows it
	// knows the committees of the whole epoch.
	// +optional
	// +kubebuilder:default=43200
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=10000000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	EpochLengthBlocks int32 `json:"epochLengthBlocks,omitempty"`

	// congestionControl keeps shards from being sent more than they can take. A
	// chunk credits only as many receipts as its state witness can show, and to
	// a shard that is more than four blocks behind with crediting nothing more
	// is sent until it has caught up. Without it a shard that falls far behind
	// may stand still for good; disable it only to measure what it costs.
	// +optional
	// +kubebuilder:default=Enabled
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	CongestionControl Switch `json:"congestionControl,omitempty"`

	// transferFee is what every transfer costs its signer beside the amount, also
	// one that fails, in base units. Nobody gets it: it is burnt, and the blocks
	// say how much was. With 0, load costs nothing.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	TransferFee *int64 `json:"transferFee,omitempty"`

	// leastBalance is the least that an account can have, in base units, and so
	// the least that a transfer can move: an account that falls below is removed,
	// and what it had left is burnt. The network has at most the sum of all
	// balances divided by it of accounts, whoever makes them. With 0, accounts are
	// never removed.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	LeastBalance *int64 `json:"leastBalance,omitempty"`
}
