// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// GenesisSpec is the state that the chain starts from. Every node derives the
// accounts from the seed, so the genesis document never holds them.
type GenesisSpec struct {
	// accountsPerShard is the number of accounts per shard. The network derives
	// shards * accountsPerShard accounts, at most 10 million; each lands in the
	// shard that its id belongs to.
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=1000000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	AccountsPerShard int32 `json:"accountsPerShard,omitempty"`

	// initialBalance is the balance of every account at height 0. The sum of
	// all balances must be below 2^64.
	// +optional
	// +kubebuilder:default=1000000000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	InitialBalance int64 `json:"initialBalance,omitempty"`

	// seed is the text that all account keys are derived from. Anybody who
	// knows it can spend from these accounts: they are for measured load, not
	// for value.
	// +optional
	// +kubebuilder:default=shardyard
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	Seed string `json:"seed,omitempty"`
}
