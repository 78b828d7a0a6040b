// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a ShardNetwork. All but ConditionStalled are True when things
// are as they should be, and Unknown when it cannot be said.
const (
	// ConditionReady sums up the others: the network runs as its spec says.
	ConditionReady = "Ready"
	// ConditionWithinLifetime says that the lifetime of the network has not ended.
	ConditionWithinLifetime = "WithinLifetime"
	// ConditionWithinBudget says that the network's estimated cost is known to be
	// within its budget.
	ConditionWithinBudget = "WithinBudget"
	// ConditionGenesisReady says that the genesis document and every
	// validator's key exist.
	ConditionGenesisReady = "GenesisReady"
	// ConditionClustersAvailable says that every cluster that holds a part of the
	// network can be used.
	ConditionClustersAvailable = "ClustersAvailable"
	// ConditionImageCompatible says that nodes may be made with the image of the
	// spec: it has the formats of the network's nodes, as far as it says.
	ConditionImageCompatible = "ImageCompatible"
	// ConditionApplied says that the clusters took every object of the network.
	ConditionApplied = "Applied"
	// ConditionNodesReady says that every node of the plan takes part in the
	// chain.
	ConditionNodesReady = "NodesReady"
	// ConditionUpdated says that every node runs what the spec says, such as
	// its image. Ready does not depend on it while an update waits for its height.
	ConditionUpdated = "Updated"
	// ConditionProducing says that finalised blocks keep coming, with chunks of
	// every shard.
	ConditionProducing = "Producing"
	// ConditionTCPTuned says that every node reads back the TCP settings of the
	// spec's profile.
	ConditionTCPTuned = "TCPTuned"
	// ConditionKeepingUp says that no node that runs and answers is behind the chain.
	// Ready does not depend on it: what a node misses, NodesReady and Producing say.
	ConditionKeepingUp = "KeepingUp"
	// ConditionMachinesKept says that no machine of a validator is about to lose
	// its pods. Ready does not depend on it: who drains a machine waits for the
	// network, not the network for him.
	ConditionMachinesKept = "MachinesKept"
	// ConditionVolumesSized says that the validators' volumes have the size of the
	// spec. It is there only with spec.volume, and Ready does not depend on it: a
	// network whose volumes do not grow goes on as it is.
	ConditionVolumesSized = "VolumesSized"
	// ConditionMonitored says that the cluster's Prometheus operator is told to
	// scrape the nodes. Ready does not depend on it.
	ConditionMonitored = "Monitored"
	// ConditionRouted says that requests of clients are led to the rpc nodes from
	// outside. It is there only with spec.rpcRoute, and Ready does not depend on it.
	ConditionRouted = "Routed"
	// ConditionStatesArchived says that every shard could come back from an archive,
	// and that archives keep up. It is there only with spec.archiveNodes, and Ready
	// does not depend on it: the chain goes on without archives.
	ConditionStatesArchived = "StatesArchived"
	// ConditionRemoved says that the member clusters have nothing any more of a
	// network that is being deleted. It is there only then.
	ConditionRemoved = "Removed"
)

// FinalizerClusters keeps a network until the member clusters have nothing of it
// any more.
const FinalizerClusters = "shardyard.dev/clusters"

// Reasons of ConditionReady. Once the lifetime of a network ended, the reason is
// that of ConditionWithinLifetime, and of a network that is stalled, that of
// ConditionStalled.
const (
	// ReasonRunning: the network runs as its spec says. An update may wait for its
	// height.
	ReasonRunning = "Running"
	// ReasonStarting: the network has not been ready yet, or not since it was
	// stopped or stalled.
	ReasonStarting = "Starting"
	// ReasonDegraded: the network was ready, and a condition no longer holds.
	ReasonDegraded = "Degraded"
	// ReasonDeleting: the network is being deleted.
	ReasonDeleting = "Deleting"
)

// Reasons of ConditionClustersAvailable. What cannot be said of a network because
// of a cluster that cannot be used has the reason ClusterUnavailable as well.
const (
	// ReasonOwnCluster: the network is in the operator's own cluster.
	ReasonOwnCluster = "OwnCluster"
	// ReasonAllClustersAvailable: the API servers of all members answer.
	ReasonAllClustersAvailable = "AllClustersAvailable"
	// ReasonClusterUnavailable: a member's API server gives no answer, or none to
	// the operator.
	ReasonClusterUnavailable = "ClusterUnavailable"
	// ReasonClusterSecretMissing: the Secret that names a member is not there.
	ReasonClusterSecretMissing = "ClusterSecretMissing"
	// ReasonClusterSecretInvalid: the Secret does not say how to reach a cluster.
	ReasonClusterSecretInvalid = "ClusterSecretInvalid"
	// ReasonClusterReplaced: the Secret names another cluster than the one that
	// holds a part of the network.
	ReasonClusterReplaced = "ClusterReplaced"
)

// ReasonObjectsRemain is a reason of ConditionRemoved: member clusters still have
// objects of the network.
const ReasonObjectsRemain = "ObjectsRemain"

// Reasons of ConditionWithinLifetime. ReasonStopping and ReasonStopped are also
// reasons of the conditions that tell of nodes and of the chain.
const (
	// ReasonNoLifetime: the network stays until it is deleted.
	ReasonNoLifetime = "NoLifetime"
	// ReasonLifetimeRunning: the end is some time away.
	ReasonLifetimeRunning = "LifetimeRunning"
	// ReasonLifetimeEnding: the last part of the lifetime has begun.
	ReasonLifetimeEnding = "LifetimeEnding"
	// ReasonLifetimeEnded: the lifetime has ended, and the network is deleted.
	ReasonLifetimeEnded = "LifetimeEnded"
	// ReasonStopping: the lifetime has ended, and nodes still run.
	ReasonStopping = "Stopping"
	// ReasonStopped: the lifetime has ended, and no node runs.
	ReasonStopped = "Stopped"
)

// Reasons of ConditionWithinBudget.
const (
	// ReasonNoBudget: the network may cost whatever it does.
	ReasonNoBudget = "NoBudget"
	// ReasonBudgetKept: the estimated cost is within the budget.
	ReasonBudgetKept = "BudgetKept"
	// ReasonBudgetExceeded: the estimated cost is higher than the budget.
	ReasonBudgetExceeded = "BudgetExceeded"
	// ReasonCostUnknown: there is a budget, and the cost is not known.
	ReasonCostUnknown = "CostUnknown"
)

// Reasons of ConditionGenesisReady.
const (
	// ReasonGenesisCreated: the genesis document and all keys exist.
	ReasonGenesisCreated = "GenesisCreated"
	// ReasonGenesisPending: some of them do not exist yet.
	ReasonGenesisPending = "GenesisPending"
	// ReasonGenesisMismatch: the genesis document that exists is not of this
	// spec.
	ReasonGenesisMismatch = "GenesisMismatch"
	// ReasonGenesisMissing: the genesis document is gone that validators were
	// made from.
	ReasonGenesisMissing = "GenesisMissing"
	// ReasonKeyMissing: a validator's key is gone that the genesis document
	// names.
	ReasonKeyMissing = "KeyMissing"
	// ReasonKeyInvalid: the Secret of a validator's key does not hold one.
	ReasonKeyInvalid = "KeyInvalid"
)

// Reasons of ConditionApplied; ReasonObjectsPending is also one of
// ConditionUpdated.
const (
	// ReasonObjectsApplied: the cluster took all objects.
	ReasonObjectsApplied = "ObjectsApplied"
	// ReasonObjectsPending: objects wait for the genesis document, for tuned
	// machines, for a cost within the budget or for a longer lifetime.
	ReasonObjectsPending = "ObjectsPending"
	// ReasonApplyFailed: the cluster refused an object.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonNameTaken: an object of that name belongs to somebody else.
	ReasonNameTaken = "NameTaken"
	// ReasonPredecessorRemains: an object of that name is about to go with an
	// earlier network of this name.
	ReasonPredecessorRemains = "PredecessorRemains"
)

// Reasons of ConditionNodesReady.
const (
	// ReasonAllNodesReady: every node takes part.
	ReasonAllNodesReady = "AllNodesReady"
	// ReasonNodesMissing: some nodes do not run.
	ReasonNodesMissing = "NodesMissing"
	// ReasonNodesNotReady: all nodes run, but some do not take part.
	ReasonNodesNotReady = "NodesNotReady"
	// ReasonUnschedulable: no machine takes a node's pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonVolumePending: a node's disk is not there.
	ReasonVolumePending = "VolumePending"
	// ReasonVolumeLost: a node's disk is gone for good.
	ReasonVolumeLost = "VolumeLost"
	// ReasonVolumeUnreachable: a node's disk is on a machine, or in a zone, that
	// does not take its pod.
	ReasonVolumeUnreachable = "VolumeUnreachable"
	// ReasonMachineNotReady: the machine of a node does not answer, or cannot keep
	// its pods going.
	ReasonMachineNotReady = "MachineNotReady"
	// ReasonMachineGone: the cluster no longer has the machine of a node.
	ReasonMachineGone = "MachineGone"
	// ReasonImageUnavailable: the node image cannot be had.
	ReasonImageUnavailable = "ImageUnavailable"
	// ReasonSysctlForbidden: a machine refuses a TCP setting of the profile.
	ReasonSysctlForbidden = "SysctlForbidden"
	// ReasonPodForbidden: the cluster refuses to make a node's pod.
	ReasonPodForbidden = "PodForbidden"
	// ReasonStatesContradict: a node stopped because finalised blocks commit to
	// another state of its shard than its own.
	ReasonStatesContradict = "StatesContradict"
	// ReasonDiskFull: a node stopped because its disk is full.
	ReasonDiskFull = "DiskFull"
	// ReasonOutOfMemory: a node was killed because it took more memory than it
	// may.
	ReasonOutOfMemory = "OutOfMemory"
	// ReasonCrashing: a node keeps ending.
	ReasonCrashing = "Crashing"
	// ReasonStuck: a pod cannot be set up.
	ReasonStuck = "Stuck"
)

// Reasons of ConditionUpdated.
const (
	// ReasonUpToDate: every node runs what the spec says.
	ReasonUpToDate = "UpToDate"
	// ReasonUpdating: nodes are being replaced.
	ReasonUpdating = "Updating"
	// ReasonAwaitingHeight: the update begins at a height that the chain has not
	// finalised yet.
	ReasonAwaitingHeight = "AwaitingHeight"
	// ReasonWaiting: the next node is replaced once those that were are back and
	// others hold what it holds.
	ReasonWaiting = "Waiting"
	// ReasonAwaitingChain: the chain stands still, and nodes that go would take
	// with them what it needs to go on.
	ReasonAwaitingChain = "AwaitingChain"
	// ReasonOnlyCopy: a node has the only copy of its shard's state.
	ReasonOnlyCopy = "OnlyCopy"
	// ReasonUpdatePaused: the update does harm, and no further node is replaced.
	ReasonUpdatePaused = "UpdatePaused"
	// ReasonRolledBack: the update did harm, and nodes run what they ran before.
	ReasonRolledBack = "RolledBack"
)

// Reasons of ConditionImageCompatible, besides ReasonImageUnavailable.
const (
	// ReasonImageInUse: nodes are made with the image of the spec.
	ReasonImageInUse = "ImageInUse"
	// ReasonImageUnchecked: it is not known yet which formats the image has.
	ReasonImageUnchecked = "ImageUnchecked"
	// ReasonFormatsDiffer: the image has other formats than the network's nodes.
	ReasonFormatsDiffer = "FormatsDiffer"
)

// Reasons of ConditionProducing.
const (
	// ReasonAllShardsProducing: finalised blocks hold chunks of every shard.
	ReasonAllShardsProducing = "AllShardsProducing"
	// ReasonShardsNotProducing: some shards' chunks are missing.
	ReasonShardsNotProducing = "ShardsNotProducing"
	// ReasonChainStalled: the finalised height does not move.
	ReasonChainStalled = "ChainStalled"
	// ReasonWrongGenesis: a node follows another chain.
	ReasonWrongGenesis = "WrongGenesis"
	// ReasonSupplyNotConserved: the sum of all value is not what genesis made.
	ReasonSupplyNotConserved = "SupplyNotConserved"
)

// Reasons of ConditionKeepingUp, besides ReasonNoAnswer.
const (
	// ReasonAllKeepUp: no node that answers is behind the chain.
	ReasonAllKeepUp = "AllKeepUp"
	// ReasonNodeBehind: a node is behind the chain, and not for long enough to be
	// started again, or spec.healing.mode is Report.
	ReasonNodeBehind = "NodeBehind"
	// ReasonHealingWaits: a node would be started again, and the network cannot do
	// without it now.
	ReasonHealingWaits = "HealingWaits"
	// ReasonNodeRestarted: a node was started again because it was behind.
	ReasonNodeRestarted = "NodeRestarted"
	// ReasonHealingGaveUp: to start a node again did not help.
	ReasonHealingGaveUp = "HealingGaveUp"
	// ReasonNotJudged: something goes on that may keep nodes behind.
	ReasonNotJudged = "NotJudged"
)

// Reasons of ConditionTCPTuned.
const (
	// ReasonNothingToTune: the profile leaves the settings to the machine.
	ReasonNothingToTune = "NothingToTune"
	// ReasonTuned: every node reads back what the profile says.
	ReasonTuned = "Tuned"
	// ReasonNotTuned: a node reads back something else.
	ReasonNotTuned = "NotTuned"
)

// Reasons of ConditionMachinesKept.
const (
	// ReasonNothingDrained: no machine of a validator is cordoned or about to be
	// removed.
	ReasonNothingDrained = "NothingDrained"
	// ReasonDraining: a node may be evicted from its machine.
	ReasonDraining = "Draining"
	// ReasonDrainWaiting: the nodes of machines that are drained stay for now.
	ReasonDrainWaiting = "DrainWaiting"
	// ReasonMachinesUnknown: the operator cannot look at the machines of a cluster.
	ReasonMachinesUnknown = "MachinesUnknown"
)

// Reasons of ConditionVolumesSized, besides ReasonVolumePending, and
// ReasonObjectsPending of volumes that wait for a cost within the budget.
const (
	// ReasonAllVolumesSized: every volume has the size of the spec.
	ReasonAllVolumesSized = "AllVolumesSized"
	// ReasonVolumesGrowing: volumes are growing.
	ReasonVolumesGrowing = "VolumesGrowing"
	// ReasonFileSystemPending: volumes have grown whose file systems do not before
	// their nodes start again.
	ReasonFileSystemPending = "FileSystemPending"
	// ReasonExpansionNotAllowed: a storage class does not let its volumes grow.
	ReasonExpansionNotAllowed = "ExpansionNotAllowed"
	// ReasonExpansionFailed: a volume does not grow, or the cluster does not let its
	// claim ask for more.
	ReasonExpansionFailed = "ExpansionFailed"
	// ReasonVolumesUnknown: the operator cannot look at the claims of a cluster.
	ReasonVolumesUnknown = "VolumesUnknown"
)

// Reasons of ConditionMonitored.
const (
	// ReasonPodMonitorApplied: the network has a PodMonitor.
	ReasonPodMonitorApplied = "PodMonitorApplied"
	// ReasonPodMonitorUnavailable: the cluster has no kind PodMonitor.
	ReasonPodMonitorUnavailable = "PodMonitorUnavailable"
	// ReasonPodMonitorFailed: the network's PodMonitor cannot be made.
	ReasonPodMonitorFailed = "PodMonitorFailed"
)

// Reasons of ConditionRouted.
const (
	// ReasonRouteTaken: an ingress controller or a gateway has taken the route.
	ReasonRouteTaken = "RouteTaken"
	// ReasonRoutePending: the route is made, and nobody has taken it so far.
	ReasonRoutePending = "RoutePending"
	// ReasonRouteRefused: a gateway does not take the route, or does not lead it to
	// the Service.
	ReasonRouteRefused = "RouteRefused"
	// ReasonRouteUnavailable: the cluster does not have the kind of the route.
	ReasonRouteUnavailable = "RouteUnavailable"
	// ReasonRouteFailed: the route cannot be made.
	ReasonRouteFailed = "RouteFailed"
)

// Reasons of ConditionStatesArchived, besides ReasonNoAnswer.
const (
	// ReasonArchivesCurrent: every shard could come back, and archives keep up.
	ReasonArchivesCurrent = "ArchivesCurrent"
	// ReasonArchivesBehind: every shard could come back, and archives do not keep up.
	ReasonArchivesBehind = "ArchivesBehind"
	// ReasonStatesNotArchived: a shard could not come back from an archive.
	ReasonStatesNotArchived = "StatesNotArchived"
)

// ReasonNoAnswer says that nodes that would know do not answer. It is a reason
// of the conditions that are taken from the chain.
const ReasonNoAnswer = "NoAnswer"
