// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ShardNetworkSpec is the network that is wanted. What the genesis document
// fixes (shards, validators, accounts, protocol) cannot change once the network
// exists, and neither can the regions: a validator's state stays where it was
// placed.
//
// Rules that compare several fields hold back while one of these is out of its
// own bounds, so that one mistake makes one error.
//
// +kubebuilder:validation:XValidation:rule="self.shards < 1 || self.shards > 1000 || self.producersPerShard < 1 || self.producersPerShard > 64 || self.chunkValidators < 0 || self.chunkValidators > 1000 || self.rpcNodes < 0 || self.rpcNodes > 100 || self.archiveNodes < 0 || self.archiveNodes > 10 || !has(self.regions) || self.regions.map(r, r.nodes).sum() == self.shards * self.producersPerShard + self.chunkValidators + self.rpcNodes + self.archiveNodes",messageExpression="'the regions have %d nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is %d'.format([self.regions.map(r, r.nodes).sum(), self.shards * self.producersPerShard + self.chunkValidators + self.rpcNodes + self.archiveNodes])",message="the nodes of all regions must sum to shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes",fieldPath=".regions",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.shards < 1 || self.shards > 1000 || self.producersPerShard < 1 || self.producersPerShard > 64 || self.chunkValidators < 0 || self.chunkValidators > 1000 || self.shards * self.producersPerShard + self.chunkValidators <= 1000",messageExpression="'shards * producersPerShard + chunkValidators is %d, but a network has at most 1000 validators'.format([self.shards * self.producersPerShard + self.chunkValidators])",message="shards * producersPerShard + chunkValidators must be at most 1000",fieldPath=".producersPerShard",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.shards < 1 || self.shards > 1000 || self.protocol.mandatesPerShard < 1 || self.protocol.mandatesPerShard > 10000 || self.shards * self.protocol.mandatesPerShard <= 1000000",messageExpression="'shards * mandatesPerShard is %d, but a height has at most 1000000 mandates: every node deals them all'.format([self.shards * self.protocol.mandatesPerShard])",message="shards * mandatesPerShard must be at most 1000000",fieldPath=".protocol.mandatesPerShard",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.shards < 1 || self.shards > 1000 || self.genesis.accountsPerShard < 2 || self.genesis.accountsPerShard > 1000000 || self.shards * self.genesis.accountsPerShard <= 10000000",messageExpression="'shards * accountsPerShard is %d, but a network has at most 10000000 accounts: every node derives them all'.format([self.shards * self.genesis.accountsPerShard])",message="shards * accountsPerShard must be at most 10000000",fieldPath=".genesis.accountsPerShard",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.shards < 1 || self.shards > 1000 || self.genesis.accountsPerShard < 2 || self.genesis.accountsPerShard > 1000000 || self.genesis.initialBalance < 1 || uint(self.genesis.initialBalance) <= 18446744073709551615u / uint(self.shards * self.genesis.accountsPerShard)",messageExpression="'must be at most %d with %d accounts: the sum of all balances must be below 2^64'.format([18446744073709551615u / uint(self.shards * self.genesis.accountsPerShard), self.shards * self.genesis.accountsPerShard])",message="the sum of all balances must be below 2^64",fieldPath=".genesis.initialBalance",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.protocol.leastBalance) || self.genesis.initialBalance >= self.protocol.leastBalance",messageExpression="'must be at least %d, the leastBalance of spec.protocol'.format([self.protocol.leastBalance])",message="must be at least the leastBalance of spec.protocol",fieldPath=".genesis.initialBalance",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.shards < 1 || self.shards > 1000 || self.producersPerShard < 1 || self.producersPerShard > 64 || !has(self.load) || !has(self.load.ramp) || self.load.ramp.steps.all(s, s.transfersPerSecond <= self.shards * self.producersPerShard * 1000000)",messageExpression="'transfersPerSecond must be at most %d with %d producers: each signs at most 1000000 transfers per second'.format([self.shards * self.producersPerShard * 1000000, self.shards * self.producersPerShard])",message="transfersPerSecond must be at most 1000000 per producer",fieldPath=".load.ramp.steps",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.shards < 1 || self.shards > 1000 || self.producersPerShard < 1 || self.producersPerShard > 64 || !has(self.load) || !has(self.load.constant) || self.load.constant.transfersPerSecond <= self.shards * self.producersPerShard * 1000000",messageExpression="'transfersPerSecond must be at most %d with %d producers: each signs at most 1000000 transfers per second'.format([self.shards * self.producersPerShard * 1000000, self.shards * self.producersPerShard])",message="transfersPerSecond must be at most 1000000 per producer",fieldPath=".load.constant.transfersPerSecond",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.closedLoop)",message="must not be set: the controller of a closed loop runs beside a Benchmark",fieldPath=".load.closedLoop",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.search)",message="must not be set: a search runs beside a Benchmark",fieldPath=".load.search",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.openLoop)",message="must not be set: the users of an open loop run beside a Benchmark",fieldPath=".load.openLoop",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.fixedCount)",message="must not be set: a load that has an end is of the runs of a Benchmark",fieldPath=".load.fixedCount",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || has(self.load.fixedCount) || !has(self.load.signing) || self.load.signing != 'Before'",message="must be Live: transfers are signed before for the runs of a Benchmark, whose load has an end",fieldPath=".load.signing",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.workload) || !has(self.load.workload.withinShardPercent) || self.load.workload.withinShardPercent == 100 || self.shards > 1",message="must be 100 with one shard",fieldPath=".load.workload.withinShardPercent",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="has(self.regions) == has(oldSelf.regions)",message="cannot be added or removed: validators keep their state where they were placed",fieldPath=".regions",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="has(self.volume) == has(oldSelf.volume)",message="cannot be added or removed: a validator keeps the disk it started with",fieldPath=".volume",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.node.roles) || self.chunkValidators != 0 || !self.node.roles.exists(r, r.role == 'ChunkValidator')",message="must not have ChunkValidator without chunkValidators: there would be no node of that role",fieldPath=".node.roles",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.node.roles) || self.rpcNodes != 0 || !self.node.roles.exists(r, r.role == 'RPC')",message="must not have RPC without rpcNodes: there would be no node of that role",fieldPath=".node.roles",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.node.roles) || self.archiveNodes != 0 || !self.node.roles.exists(r, r.role == 'Archive')",message="must not have Archive without archiveNodes: there would be no node of that role",fieldPath=".node.roles",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.volume) || !has(self.volume.roles) || self.chunkValidators != 0 || !self.volume.roles.exists(r, r.role == 'ChunkValidator')",message="must not have ChunkValidator without chunkValidators: there would be no node of that role",fieldPath=".volume.roles",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.volume) || !has(self.volume.roles) || self.rpcNodes != 0 || !self.volume.roles.exists(r, r.role == 'RPC')",message="must not have RPC without rpcNodes: there would be no node of that role",fieldPath=".volume.roles",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.volume) || !has(self.volume.roles) || self.archiveNodes != 0 || !self.volume.roles.exists(r, r.role == 'Archive')",message="must not have Archive without archiveNodes: there would be no node of that role",fieldPath=".volume.roles",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.placement.regions) || has(self.regions) && self.placement.regions.all(p, self.regions.exists(r, r.name == p.name))",message="must be regions of spec.regions",fieldPath=".placement.regions",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.rpcRoute) || self.rpcNodes != 0",message="needs spec.rpcNodes: requests from outside are led to no validator",fieldPath=".rpcRoute",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.podTemplate) || !has(self.podTemplate.spec) || !has(self.podTemplate.spec.tolerations) || has(self.volume) || !self.podTemplate.spec.tolerations.exists(t, has(t.tolerationSeconds))",message="must have no tolerationSeconds without spec.volume: pods would be deleted with all that they hold",fieldPath=".podTemplate.spec.tolerations",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.budget) || !has(self.budget.usdPerRun) || has(self.lifetime)",message="needs spec.lifetime: without it, a run has no end and no cost",fieldPath=".budget.usdPerRun",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.lifetime) || self.lifetime.action != 'Stop' || has(self.volume)",message="cannot be Stop without spec.volume: nothing would be kept of the chain",fieldPath=".lifetime.action",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.links) || has(self.regions) && self.links.all(l, l.between.all(n, self.regions.exists(r, r.name == n)))",message="must be between regions of spec.regions",fieldPath=".links",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.rpcNodes == 0 || !has(self.regions) || self.regions.all(r, !has(r.cluster))",message="must be 0 with regions in other clusters: genesis does not name the keys of rpc nodes, and a cluster that cannot be reached does not tell them",fieldPath=".rpcNodes",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.archiveNodes == 0 || !has(self.regions) || self.regions.all(r, !has(r.cluster))",message="must be 0 with regions in other clusters: genesis does not name the keys of archives, and a cluster that cannot be reached does not tell them",fieldPath=".archiveNodes",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.archiveNodes == 0 || self.node.features.saveUntrackedChunkParts == 'Enabled'",message="needs spec.node.features.saveUntrackedChunkParts: a shard comes back from an archived state by the parts of the bodies since then",fieldPath=".archiveNodes",reason="FieldValueInvalid"
type ShardNetworkSpec struct {
	// shards is the number of shards that state and transactions are divided
	// into.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	Shards int32 `json:"shards,omitempty"`

	// producersPerShard is the number of chunk producers of each shard. They
	// take turns by height, and each is a validator with one vote in consensus.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	ProducersPerShard int32 `json:"producersPerShard,omitempty"`

	// chunkValidators is the number of validators that produce nothing: they
	// hold no shard's state and have no vote in consensus, and endorse the chunks
	// that their mandates deal them. Producers have mandates as well, so a
	// network needs none.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is fixed by genesis and cannot change",reason="FieldValueForbidden"
	ChunkValidators int32 `json:"chunkValidators,omitempty"`

	// rpcNodes is the number of nodes that only follow the chain and serve clients:
	// they verify what clients send, hand it to the producers of its shard, and say
	// what became of it. With some, the Service of the network's clients leads to
	// them alone; without, to all nodes. They are known to all others from the
	// beginning, so their number cannot change.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: all nodes know each other from the beginning",reason="FieldValueForbidden"
	RPCNodes int32 `json:"rpcNodes,omitempty"`

	// archiveNodes is the number of nodes that follow the chain and keep the newest
	// state of every shard, each on a disk of its own: a shard whose producers all
	// lost theirs comes back from one. A state is fetched every
	// node.storage.snapshotIntervalBlocks, and is of use for
	// node.storage.retentionBlocks. They are known to all others from the beginning,
	// so their number cannot change.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: all nodes know each other from the beginning",reason="FieldValueForbidden"
	ArchiveNodes int32 `json:"archiveNodes,omitempty"`

	// regions are the places the validators run in. The producers of a shard
	// are spread over them as evenly as their sizes allow, and so are the chunk
	// validators, the rpc nodes and the archives. Without it, all of them run in the operator's
	// own cluster, on machines of any region, and count as one region named
	// anywhere.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.size() == oldSelf.size() && self.all(r, oldSelf.exists(o, o.name == r.name && o.nodes == r.nodes && has(o.cluster) == has(r.cluster) && (!has(o.cluster) || o.cluster == r.cluster)))",message="names, node counts and clusters cannot change: validators keep their state where they were placed",reason="FieldValueForbidden"
	Regions []Region `json:"regions,omitempty"`

	// links are what lies between the regions, wherever the validators run: on
	// one machine, regions are as far apart as they say. Regions without a link
	// are as near as they are. A change takes effect as nodes are replaced.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=136
	// +kubebuilder:validation:XValidation:rule="self.all(l, l.between.size() != 2 || self.exists_one(o, o.between == l.between || (o.between.size() == 2 && o.between[0] == l.between[1] && o.between[1] == l.between[0])))",message="two regions have one link",reason="FieldValueInvalid"
	Links []LinkSpec `json:"links,omitempty"`

	// genesis is the state that the chain starts from.
	// +optional
	// +kubebuilder:default={}
	Genesis GenesisSpec `json:"genesis,omitzero"`

	// protocol holds the parameters that all nodes must agree on.
	// +optional
	// +kubebuilder:default={}
	Protocol ProtocolSpec `json:"protocol,omitzero"`

	// node says what every node runs and with what resources.
	// +optional
	// +kubebuilder:default={}
	Node NodeSpec `json:"node,omitzero"`

	// placement says which machines the validators run on.
	// +optional
	// +kubebuilder:default={}
	Placement PlacementSpec `json:"placement,omitzero"`

	// podTemplate is what the pods of the validators have besides what the operator
	// gives them.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`

	// rpcService is the Service by which clients reach the nodes, in every cluster
	// of the network. Without it, it is reached from within the cluster.
	// +optional
	RPCService *RPCServiceSpec `json:"rpcService,omitempty"`

	// rpcRoute leads requests from outside, for given host names, to the Service of
	// the rpc nodes. Without it, nothing does.
	// +optional
	RPCRoute *RPCRouteSpec `json:"rpcRoute,omitempty"`

	// volume is the disk of each validator. Without it, a validator's data
	// lives as long as the place it runs in.
	// +optional
	Volume *VolumeSpec `json:"volume,omitempty"`

	// tcp says how the network stack of each validator's pod is set.
	// +optional
	// +kubebuilder:default={}
	TCP TCPSpec `json:"tcp,omitzero"`

	// update says how nodes are replaced that run something else than the spec
	// says.
	// +optional
	// +kubebuilder:default={}
	Update UpdateSpec `json:"update,omitzero"`

	// healing says what becomes of nodes that run and do not keep up with the chain.
	// +optional
	// +kubebuilder:default={}
	Healing HealingSpec `json:"healing,omitzero"`

	// tracing has the nodes record what blocks wait for. Without it, they record
	// nothing.
	// +optional
	Tracing *TracingSpec `json:"tracing,omitempty"`

	// load is the load that the network carries by itself. Without it, the
	// nodes sign no transfers of their own.
	// +optional
	Load *LoadSpec `json:"load,omitempty"`

	// budget is what the network may cost at most. A network whose estimated
	// cost is higher, or not known, is not made.
	// +optional
	Budget *BudgetSpec `json:"budget,omitempty"`

	// lifetime ends the network after a time. Without it, a network stays until
	// it is deleted.
	// +optional
	Lifetime *LifetimeSpec `json:"lifetime,omitempty"`
}

// Region is a place that validators run in.
type Region struct {
	// name is the name of the region, a DNS label.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// nodes is the number of validators that run in the region.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Nodes int32 `json:"nodes,omitempty"`

	// cluster is the Kubernetes cluster that the region's validators run in: the
	// name of a Secret in the network's namespace with the cluster's kubeconfig
	// and the domain of its DNS names, in the keys kubeconfig and domain.
	// Without it, they run in the operator's own cluster. Everywhere, they are in
	// a namespace of the same name as the network's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Cluster string `json:"cluster,omitempty"`
}
