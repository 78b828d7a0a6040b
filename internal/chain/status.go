// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
)

// Status is what a node tells about itself and the chain.
type Status struct {
	Network string `json:"network"`
	Node    string `json:"node"`
	Region  string `json:"region"`
	Role    string `json:"role"`
	Version string `json:"version"`
	// Formats is the version of what the node sends and keeps on disk; nil when it
	// does not say.
	Formats     *int32 `json:"formats,omitempty"`
	PublicKey   string `json:"publicKey"`
	GenesisHash string `json:"genesisHash"`

	// Height is the highest block that the node has verified or proposed.
	Height uint64 `json:"height"`
	// FinalizedHeight is the last finalised block that the node has processed.
	FinalizedHeight uint64 `json:"finalizedHeight"`
	// StartedHeight is the first finalised block that the node has processed since it
	// was started; 0 before.
	StartedHeight   uint64 `json:"startedHeight"`
	FinalizedTimeMs int64  `json:"finalizedTimeMs"`
	BlockHash       string `json:"blockHash"`

	// BlockTimeMs and TPS are over the last WindowBlocks finalised blocks.
	BlockTimeMs  float64 `json:"blockTimeMs"`
	TPS          float64 `json:"tps"`
	WindowBlocks int     `json:"windowBlocks"`

	// Transfers, CrossShard and MissedChunks are totals since genesis, as of the
	// finalised block.
	Transfers    uint64 `json:"transfers"`
	CrossShard   uint64 `json:"crossShard"`
	MissedChunks uint64 `json:"missedChunks"`

	Peers int `json:"peers"`
	// FaultyLinks is the number of peers the links to which have a fault.
	FaultyLinks int `json:"faultyLinks"`
	// DiskFault is what a fault makes of the node's disk; nil when there is none.
	DiskFault *DiskCondition `json:"diskFault"`
	// ClockOffsetMilliseconds is how far ahead of the right time a fault has the node's
	// clock be; 0 without one.
	ClockOffsetMilliseconds int64  `json:"clockOffsetMilliseconds"`
	Supply                  Supply `json:"supply"`
	// Shards are what the finalised block's header of each shard commits to.
	Shards []ShardStatus `json:"shards"`
	// Tracked is the node's own state; nil for a node that tracks no shard.
	Tracked *TrackedStatus `json:"tracked"`
	// Syncing is how far fetching a later state is; nil for a node that executes.
	Syncing *SyncingStatus `json:"syncing"`
	// Copy is what others could make of this node's records; nil for a node that
	// is no producer.
	Copy *CopyStatus `json:"copy"`
	// Archive is what the node keeps of all shards; nil for one that is no archive.
	Archive *ArchiveStatus `json:"archive"`
	Pool    PoolStatus     `json:"pool"`
	// Load is the in-node generator; nil for a node that has none.
	Load *Load `json:"load"`
	// CPUSeconds is the CPU time of the process since it started.
	CPUSeconds float64 `json:"cpuSeconds"`
	// Memory, Disk and Machine are nil where the node's kernel does not tell.
	Memory  *Memory  `json:"memory"`
	Disk    *Disk    `json:"disk"`
	Machine *Machine `json:"machine"`
	TCP     TCP      `json:"tcp"`
}

// Memory is the resident memory of the process: what it made itself, and what is
// mapped from files or shared.
type Memory struct {
	AnonymousBytes uint64 `json:"anonymousBytes"`
	FileBytes      uint64 `json:"fileBytes"`
}

// Disk is what the process had disks read and write since it started.
type Disk struct {
	ReadBytes    uint64 `json:"readBytes"`
	WrittenBytes uint64 `json:"writtenBytes"`
}

// Machine is what all processors of the node's machine did since it started.
type Machine struct {
	// BusySeconds is the time at work, and StolenSeconds the time in which they
	// wanted to work and a hypervisor let others.
	BusySeconds   float64 `json:"busySeconds"`
	StolenSeconds float64 `json:"stolenSeconds"`
}

// Supply is the sum of all value, as of the finalised block.
type Supply struct {
	Expected uint64 `json:"expected"`
	Balances uint64 `json:"balances"`
	// InFlight is debited in one shard and not yet credited in another.
	InFlight uint64 `json:"inFlight"`
	// Burnt is no more: fees, and what accounts had left that were removed.
	Burnt     uint64 `json:"burnt"`
	Conserved bool   `json:"conserved"`
}

// Sum is all value that the block's headers account for.
func (s Supply) Sum() *big.Int {
	sum := new(big.Int)
	for _, part := range []uint64{s.Balances, s.InFlight, s.Burnt} {
		sum.Add(sum, new(big.Int).SetUint64(part))
	}
	return sum
}

// ShardStatus is what the finalised block's header of one shard commits to.
type ShardStatus struct {
	Shard int `json:"shard"`
	// ChunkHeight is the height of the last chunk.
	ChunkHeight  uint64 `json:"chunkHeight"`
	MissedChunks uint64 `json:"missedChunks"`
	// ExecutedHeight and StateRoot are the last committed execution.
	ExecutedHeight uint64 `json:"executedHeight"`
	StateRoot      string `json:"stateRoot"`
	Transfers      uint64 `json:"transfers"`
	Credits        uint64 `json:"credits"`
	CrossShard     uint64 `json:"crossShard"`
	Balance        uint64 `json:"balance"`
	// Burnt is the value that is no more since genesis.
	Burnt uint64 `json:"burnt"`
	// Sent and Received are the value that left for other shards and came from
	// them since genesis: sums that can be far above the supply.
	Sent     *big.Int `json:"sent"`
	Received *big.Int `json:"received"`
	// BlocksBehind is how far the shard is behind with crediting what was sent
	// to it.
	BlocksBehind uint64 `json:"blocksBehind"`
	// EndorsedStake is the stake of those that endorsed the shard's last chunk,
	// and MandatedStake that of its whole committee; 0 until the node has seen a
	// chunk of the shard become final.
	EndorsedStake uint64 `json:"endorsedStake,omitempty"`
	MandatedStake uint64 `json:"mandatedStake,omitempty"`
}

// TrackedStatus is the state of the shard that a node tracks.
type TrackedStatus struct {
	Shard          int    `json:"shard"`
	ExecutedHeight uint64 `json:"executedHeight"`
	StateRoot      string `json:"stateRoot"`
	Accounts       uint64 `json:"accounts"`
}

// SyncingStatus is how far a node is that cannot execute on from its own state
// and fetches a later one.
type SyncingStatus struct {
	NeededHeight uint64 `json:"neededHeight"`
	// SnapshotHeight is nil until the node has found a snapshot.
	SnapshotHeight *uint64 `json:"snapshotHeight"`
	PagesFetched   uint32  `json:"pagesFetched"`
	// Pages is nil until the node knows how many there are.
	Pages *uint32 `json:"pages"`
}

// ArchiveStatus is what an archive keeps.
type ArchiveStatus struct {
	// UsableShards is how many shards could come back from it now.
	UsableShards int `json:"usableShards"`
	// Shards are all shards, in order.
	Shards []ArchivedStatus `json:"shards"`
}

// ArchivedStatus is what an archive keeps of one shard.
type ArchivedStatus struct {
	Shard int `json:"shard"`
	// ArchivedHeight is the executed height of the newest state; nil without one.
	ArchivedHeight *uint64 `json:"archivedHeight"`
	// BehindBlocks is how much higher what the shard's newest header states is.
	BehindBlocks uint64 `json:"behindBlocks"`
	// Usable says whether the shard could come back from it.
	Usable bool `json:"usable"`
}

// CopyStatus is whether what a producer holds of its shard is enough for the
// shard to go on should all other producers of the shard lose what they have.
type CopyStatus struct {
	Complete bool `json:"complete"`
	// Missing says what it lacks.
	Missing []string `json:"missing"`
}

// PoolStatus is how full a node's pool is.
type PoolStatus struct {
	Transactions uint64 `json:"transactions"`
	Capacity     uint64 `json:"capacity"`
	// Waiting are the transactions whose receiver's shard is congested.
	Waiting uint64 `json:"waiting"`
}

// TCP is what the kernel uses for new connections in the node's network
// namespace, by sysctl; nil where the node cannot read it.
type TCP struct {
	CongestionControl  *string `json:"congestionControl"`
	MaxSynBacklog      *uint64 `json:"maxSynBacklog"`
	MTUProbing         *uint64 `json:"mtuProbing"`
	SlowStartAfterIdle *uint64 `json:"slowStartAfterIdle"`
	NoMetricsSave      *uint64 `json:"noMetricsSave"`
	Somaxconn          *uint64 `json:"somaxconn"`
	// Rmem and Wmem are the least, the initial and the most bytes of the
	// buffers for receiving and sending.
	Rmem []uint64 `json:"rmem"`
	Wmem []uint64 `json:"wmem"`
}

// Status asks a node for its status.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	var status Status
	if err := c.send(ctx, request{method: http.MethodGet, path: "/status"}, &status); err != nil {
		return nil, err
	}
	return &status, nil
}

// Raw asks a node for something of its HTTP API, and returns the answer as it is.
func (c *Client) Raw(ctx context.Context, path string) ([]byte, error) {
	content, err := c.exchange(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: %w", http.MethodGet, c.base, path, err)
	}
	return content, nil
}
