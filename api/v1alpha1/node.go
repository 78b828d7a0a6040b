// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ImagePullPolicy says when a machine pulls an image.
// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
type ImagePullPolicy string

// NodeSpec says what every node runs and with what resources.
type NodeSpec struct {
	// image is the container image of the nodes. It defaults to the node image
	// that the operator's release named when the network was made, or when this
	// was left out; another release changes it for new networks alone. An image
	// whose nodes send or keep other formats than those that run is refused.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`

	// imagePullPolicy says when a machine pulls the image. Without it, an image of
	// the tag latest is pulled for every pod, and any other where it is not there.
	// +optional
	ImagePullPolicy ImagePullPolicy `json:"imagePullPolicy,omitempty"`

	// resources are the CPU and memory of each node.
	// +optional
	Resources *NodeResources `json:"resources,omitempty"`

	// roles are what nodes of a role have in the place of what all have.
	// +optional
	// +listType=map
	// +listMapKey=role
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Roles []NodeRoleSpec `json:"roles,omitempty"`

	// features are the named switches of a node's hot path. None of them
	// changes what the chain computes.
	// +optional
	// +kubebuilder:default={}
	Features NodeFeatures `json:"features,omitzero"`

	// storage says how a node keeps its state.
	// +optional
	// +kubebuilder:default={}
	Storage NodeStorage `json:"storage,omitzero"`

	// log says what a node logs.
	// +optional
	// +kubebuilder:default={}
	Log NodeLog `json:"log,omitzero"`
}

// NodeRole is what a node does for its network.
// +kubebuilder:validation:Enum=Producer;ChunkValidator;RPC;Archive
type NodeRole string

const (
	// NodeRoleProducer is of nodes that track a shard, produce its chunks and vote in
	// consensus.
	NodeRoleProducer NodeRole = "Producer"
	// NodeRoleChunkValidator is of nodes that hold no state and only endorse chunks.
	NodeRoleChunkValidator NodeRole = "ChunkValidator"
	// NodeRoleRPC is of nodes that follow the chain and serve clients.
	NodeRoleRPC NodeRole = "RPC"
	// NodeRoleArchive is of nodes that follow the chain and keep the states of all
	// shards.
	NodeRoleArchive NodeRole = "Archive"
)

// NodeRoleSpec is what the nodes of a role have.
type NodeRoleSpec struct {
	// role is the role of the nodes.
	// +required
	Role NodeRole `json:"role,omitempty"`

	// resources are the CPU and memory of each node of the role: all of them, for
	// nothing is taken from spec.node.resources then.
	// +required
	Resources *NodeResources `json:"resources,omitempty"`
}

// NodeFeatures are the named switches of a node's hot path.
type NodeFeatures struct {
	// signatureBatchSize is the number of transactions per signature batch when
	// a chunk is verified: 0 takes the whole chunk as one batch, 1 verifies
	// each signature alone.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65536
	SignatureBatchSize *int32 `json:"signatureBatchSize,omitempty"`

	// mempoolCapacity is the number of transactions that a node's pool holds;
	// it refuses more.
	// +optional
	// +kubebuilder:default=100000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	MempoolCapacity int32 `json:"mempoolCapacity,omitempty"`

	// mempoolMebibytes bounds the pool by the size of its transactions; it
	// refuses more. All transactions have 153 bytes: the default is above what
	// mempoolCapacity lets in by default.
	// +optional
	// +kubebuilder:default=64
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	MempoolMebibytes int32 `json:"mempoolMebibytes,omitempty"`

	// adaptiveChunkSize has producers put fewer transactions into chunks while
	// chunks of their shard are missed, so that a network that is offered more
	// than it can do goes on with what it can.
	// +optional
	// +kubebuilder:default=Enabled
	AdaptiveChunkSize Switch `json:"adaptiveChunkSize,omitempty"`

	// saveUntrackedChunkParts makes a producer's parts of the bodies of other
	// shards' chunks durable before it votes, and keeps them for
	// retentionBlocks. Without it they are in memory, for the last blocks.
	// +optional
	// +kubebuilder:default=Disabled
	SaveUntrackedChunkParts Switch `json:"saveUntrackedChunkParts,omitempty"`
}

// StorageEngine names a way of keeping state.
// +kubebuilder:validation:Enum=Log
type StorageEngine string

// StorageEngineLog keeps state in memory, an append-only journal that is made
// durable per block, and periodic snapshots.
const StorageEngineLog StorageEngine = "Log"

// NodeStorage says how a node keeps its state.
// +kubebuilder:validation:XValidation:rule="!has(self.snapshotIntervalBlocks) || !has(self.retentionBlocks) || self.snapshotIntervalBlocks < 1 || self.snapshotIntervalBlocks > 1000000 || self.retentionBlocks < 1 || self.retentionBlocks >= self.snapshotIntervalBlocks",messageExpression="'must be at least snapshotIntervalBlocks (%d): a node restarts from its last snapshot'.format([self.snapshotIntervalBlocks])",message="must be at least snapshotIntervalBlocks",fieldPath=".retentionBlocks",reason="FieldValueInvalid"
type NodeStorage struct {
	// engine is the storage engine.
	// +optional
	// +kubebuilder:default=Log
	Engine StorageEngine `json:"engine,omitempty"`

	// snapshotIntervalBlocks is the number of executed chunks between two
	// snapshots of a node's state.
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	SnapshotIntervalBlocks int32 `json:"snapshotIntervalBlocks,omitempty"`

	// retentionBlocks is the number of blocks that nodes keep at least, and for
	// which chunks and outgoing receipts stay available to nodes that catch up.
	// It must be at least snapshotIntervalBlocks.
	// +optional
	// +kubebuilder:default=20000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	RetentionBlocks int32 `json:"retentionBlocks,omitempty"`
}

// LogLevel is the least severity that is logged.
// +kubebuilder:validation:Enum=Error;Warn;Info;Debug;Trace
type LogLevel string

// The log levels, from the fewest lines to the most.
const (
	LogLevelError LogLevel = "Error"
	LogLevelWarn  LogLevel = "Warn"
	LogLevelInfo  LogLevel = "Info"
	LogLevelDebug LogLevel = "Debug"
	LogLevelTrace LogLevel = "Trace"
)

// NodeLog says what a node logs.
type NodeLog struct {
	// level is the least severity that is logged.
	// +optional
	// +kubebuilder:default=Info
	Level LogLevel `json:"level,omitempty"`
}
