// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a ShardNetwork. All are True when things are as they
// should be.
const (
	// ConditionReady sums up the others: the network runs as its spec says.
	ConditionReady = "Ready"
	// ConditionGenesisReady says that the genesis document and every
	// validator's key exist.
	ConditionGenesisReady = "GenesisReady"
	// ConditionNodesReady says that every node of the plan takes part in the
	// chain.
	ConditionNodesReady = "NodesReady"
	// ConditionProducing says that finalised blocks keep coming, with chunks of
	// every shard.
	ConditionProducing = "Producing"
)

// Reasons of ConditionReady.
const (
	// ReasonRunning: all other conditions are True.
	ReasonRunning = "Running"
	// ReasonStarting: the network has not been ready yet.
	ReasonStarting = "Starting"
	// ReasonDegraded: the network was ready, and a condition no longer holds.
	ReasonDegraded = "Degraded"
)

// Reasons of ConditionGenesisReady.
const (
	// ReasonGenesisCreated: the genesis document and all keys exist.
	ReasonGenesisCreated = "GenesisCreated"
	// ReasonGenesisPending: some of them do not exist yet.
	ReasonGenesisPending = "GenesisPending"
)

// Reasons of ConditionNodesReady.
const (
	// ReasonAllNodesReady: every node takes part.
	ReasonAllNodesReady = "AllNodesReady"
	// ReasonNodesMissing: some nodes do not run.
	ReasonNodesMissing = "NodesMissing"
	// ReasonNodesNotReady: all nodes run, but some do not take part.
	ReasonNodesNotReady = "NodesNotReady"
)

// Reasons of ConditionProducing.
const (
	// ReasonAllShardsProducing: finalised blocks hold chunks of every shard.
	ReasonAllShardsProducing = "AllShardsProducing"
	// ReasonShardsNotProducing: some shards' chunks are missing.
	ReasonShardsNotProducing = "ShardsNotProducing"
	// ReasonChainStalled: the finalised height does not move.
	ReasonChainStalled = "ChainStalled"
)
