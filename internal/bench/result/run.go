// SPDX-License-Identifier: Apache-2.0

package result

import "time"

// Run is one network under load.
type Run struct {
	// Variant is empty when there are no variants.
	Variant string `json:"variant,omitempty"`
	// Repetition counts the runs of a variant, from 1.
	Repetition  int       `json:"repetition"`
	StartedAt   time.Time `json:"startedAt"`
	GenesisHash string    `json:"genesisHash"`
	// LoadBeganMs is when the load began, in milliseconds since 1970.
	LoadBeganMs int64 `json:"loadBeganMs"`
	// BeganHeight is the last block that was finalised before; absent when it was not
	// recorded.
	BeganHeight uint64 `json:"beganHeight,omitempty"`
	Window      Window `json:"window"`
	// Fault says why the run does not count; empty when it does.
	Fault string `json:"fault,omitempty"`
	// Notes say what a reader should know of the run's figures.
	Notes []string `json:"notes,omitempty"`
	// SignedBefore is how many transfers the producers signed before the load began;
	// absent when they signed them as they became due.
	SignedBefore int64 `json:"signedBefore,omitempty"`
	// FixedCount is what became of a fixed count of transfers; absent of another load.
	FixedCount *FixedCount `json:"fixedCount,omitempty"`
	// Search is what a search for the highest rate came to; absent without one.
	Search *Search `json:"search,omitempty"`
	// OpenLoop is what clients saw of the chain; absent without any.
	OpenLoop *OpenLoop `json:"openLoop,omitempty"`
	// Accounting is what became of the transfers that generators signed; absent when clients
	// signed them, or it is not known.
	Accounting *Accounting `json:"accounting,omitempty"`
	Nodes      []Node      `json:"nodes"`
	// Machines are those of a cluster that the nodes were on, by their kinds, as far as the
	// cluster tells; absent on one machine.
	Machines []Machines `json:"machines,omitempty"`
	// Profile is what the validators took of themselves; absent when nobody wanted it, or
	// none of them took one.
	Profile *Profile `json:"profile,omitempty"`
	// Counts are what the nodes counted; absent when one of them did not tell.
	Counts  *Counts  `json:"counts,omitempty"`
	Blocks  []Block  `json:"blocks"`
	Samples []Sample `json:"samples"`
}

// Window is the time that a run is measured over, in milliseconds since 1970.
type Window struct {
	BeginMs int64 `json:"beginMs"`
	EndMs   int64 `json:"endMs"`
}

// Block is one finalised block, and what its headers say of the whole network.
type Block struct {
	Height      uint64 `json:"height"`
	TimestampMs int64  `json:"timestampMs"`
	// Included are the transfers in the chunks of the block.
	Included uint64 `json:"included"`
	// Executed are the transfers that the block's headers are the first to commit
	// as executed.
	Executed uint64 `json:"executed"`
	// Failed are those that were executed with them and changed nothing; absent
	// when it is not known how many transfers these executions were of.
	Failed *uint64 `json:"failed,omitempty"`
	// Credits are the credits that the headers are the first to commit to.
	Credits uint64 `json:"credits"`
	// Shards are the chunks that the block could have had, MissedChunks those of
	// them that it has not.
	Shards       int `json:"shards"`
	MissedChunks int `json:"missedChunks"`
}

// Sample is what the nodes and the machine tell at one time. Sums over nodes are
// absent when one of them did not tell.
type Sample struct {
	TimeMs int64 `json:"timeMs"`
	// FinalizedHeight is the highest that any node told.
	FinalizedHeight uint64 `json:"finalizedHeight"`
	// OfferedPerSecond is the rate of the load spec that producers say they sign, or the
	// one that the controller of a closed loop, or a search, asks for from then on, or what
	// the users of an open loop send, to the nearest whole transfer.
	OfferedPerSecond int64 `json:"offeredPerSecond"`
	// Control is what that controller saw; absent without one.
	Control *Control `json:"control,omitempty"`
	// Signed and Rejected are what all generators signed and what pools refused of
	// it, since the nodes started. They are absent where clients sign.
	Signed   *uint64 `json:"signed,omitempty"`
	Rejected *uint64 `json:"rejected,omitempty"`
	// Failures are why transfers failed and were refused; absent when nobody was asked at
	// that time, or a node did not tell.
	Failures *Failures `json:"failures,omitempty"`
	// HeldBack, Overdue and Exhausted are what was due and not signed, since the nodes
	// started: because pools had no room, because generators were too late, and because
	// nothing was left of what they had signed before.
	HeldBack  *uint64 `json:"heldBack,omitempty"`
	Overdue   *uint64 `json:"overdue,omitempty"`
	Exhausted *uint64 `json:"exhausted,omitempty"`
	// Pool is the number of transfers in all pools.
	Pool *uint64 `json:"pool,omitempty"`
	// CPUSeconds is the CPU time of all nodes since they started.
	CPUSeconds *float64 `json:"cpuSeconds,omitempty"`
	// CPUSecondsByRole is that of the nodes of each role, as nodes have it in role. A role
	// is absent when one of its nodes did not tell.
	CPUSecondsByRole map[string]float64 `json:"cpuSecondsByRole,omitempty"`
	// MemoryBytes is the memory of all nodes without what is mapped from files,
	// and FileMemoryBytes is that.
	MemoryBytes     *uint64 `json:"memoryBytes,omitempty"`
	FileMemoryBytes *uint64 `json:"fileMemoryBytes,omitempty"`
	// DiskReadBytes and DiskWrittenBytes are what all nodes had the disk read and
	// write since they started.
	DiskReadBytes    *uint64 `json:"diskReadBytes,omitempty"`
	DiskWrittenBytes *uint64 `json:"diskWrittenBytes,omitempty"`
	// HostBusySeconds and HostStolenSeconds are the time that the machine's
	// processors worked, for anybody, and that they wanted to work and a
	// hypervisor let others. In a cluster they are sums over the machines of all
	// nodes, each once for each of its nodes.
	HostBusySeconds   *float64 `json:"hostBusySeconds,omitempty"`
	HostStolenSeconds *float64 `json:"hostStolenSeconds,omitempty"`
	// HostWorkMicroseconds is the processor time that a piece of work took, the same for
	// each sample, on the machine of the runs: how fast its processors were just then.
	HostWorkMicroseconds *float64 `json:"hostWorkMicroseconds,omitempty"`
	// HostDiskFlushes is how often the disks of the machine of the runs were flushed, by
	// anybody, since it started, and HostDiskFlushSeconds how long that took them. A disk
	// does one flush at a time.
	HostDiskFlushes      *uint64  `json:"hostDiskFlushes,omitempty"`
	HostDiskFlushSeconds *float64 `json:"hostDiskFlushSeconds,omitempty"`
}

// Search is a search for the highest rate of load that a chain carries.
type Search struct {
	// HeldPerSecond is the highest rate that holds; absent if none was found.
	HeldPerSecond int64 `json:"heldPerSecond,omitempty"`
	// Steps are the rates that were tried, in their order.
	Steps []SearchStep `json:"steps"`
}

// SearchStep is one rate that was tried.
type SearchStep struct {
	TransfersPerSecond int64 `json:"transfersPerSecond"`
	BeganMs            int64 `json:"beganMs"`
	EndedMs            int64 `json:"endedMs"`
	// ExecutedPerSecond is TPS in the second half of the step.
	ExecutedPerSecond float64 `json:"executedPerSecond"`
	Holds             bool    `json:"holds"`
	// Words say why it holds or does not.
	Words string `json:"words"`
}

// Control is a step of the controller of a closed loop, or of a search.
type Control struct {
	// State is what it was doing.
	State string `json:"state"`
	// Error is what it follows: from -1, far more load is carried, to 1. A search
	// follows none.
	Error float64 `json:"error"`
	// BlockTimeMs and MissedShare are what the error is made of; BacklogSeconds bounds the rate.
	BlockTimeMs    float64 `json:"blockTimeMs"`
	BacklogSeconds float64 `json:"backlogSeconds"`
	MissedShare    float64 `json:"missedShare"`
	// Steady says that the rate had been steady for a while.
	Steady bool `json:"steady"`
}

// Node is one node over the time of the measurement.
type Node struct {
	Name string `json:"name"`
	Role string `json:"role"`
	// Shard is absent of nodes that produce no chunks.
	Shard *int `json:"shard,omitempty"`
	// Version and Formats are what the node tells of its program.
	Version string `json:"version,omitempty"`
	Formats *int32 `json:"formats,omitempty"`
	// CPUSeconds is the CPU time that it used.
	CPUSeconds *float64 `json:"cpuSeconds,omitempty"`
	// PeakMemoryBytes is the most memory that it had, without what is mapped from
	// files.
	PeakMemoryBytes  *uint64 `json:"peakMemoryBytes,omitempty"`
	DiskReadBytes    *uint64 `json:"diskReadBytes,omitempty"`
	DiskWrittenBytes *uint64 `json:"diskWrittenBytes,omitempty"`
	// NetworkSentBytes and NetworkReceivedBytes are what it sent to other nodes and
	// received from them, and ChecksEndorsed and ChecksRefused the chunk headers that it
	// checked as a member of their committee: as the node counts them itself, between the
	// times of the run's counts.
	NetworkSentBytes     *uint64 `json:"networkSentBytes,omitempty"`
	NetworkReceivedBytes *uint64 `json:"networkReceivedBytes,omitempty"`
	ChecksEndorsed       *uint64 `json:"checksEndorsed,omitempty"`
	ChecksRefused        *uint64 `json:"checksRefused,omitempty"`
}
