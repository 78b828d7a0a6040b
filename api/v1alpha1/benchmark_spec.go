// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// BenchmarkSpec is an experiment. It cannot change: what was measured would not
// be what the spec says.
//
// A run makes a network, waits until it is ready, applies the load, lets it warm
// up, measures, and removes the network. With two variants, each repetition is
// one run of each, one after the other, and the one that goes first changes from
// repetition to repetition; or both at the same time. A network that is named is
// there before and stays.
//
// +kubebuilder:validation:XValidation:rule="!has(self.interleaving) || has(self.variants)",message="must not be set without variants: it says how the runs of two share the time",fieldPath=".interleaving",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.interleaving) || self.interleaving != 'SideBySide' || self.load.profile in ['Constant', 'Ramp']",message="must not be SideBySide unless the load is of profile Constant or Ramp: a rate that is found on processors that two networks share depends on the other one",fieldPath=".interleaving",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.network.name) || !has(self.variants)",message="must not be set with network.name: each variant has networks of its own, made from network.template",fieldPath=".variants",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.network.name) || !has(self.load.openLoop)",message="must not be set with network.name: the users of an open loop have a network that is made for them from network.template",fieldPath=".load.openLoop",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.variants) || has(self.baseline)",message="is required with two variants: it says how they are compared",fieldPath=".baseline",reason="FieldValueRequired"
// +kubebuilder:validation:XValidation:rule="!has(self.variants) || !has(self.baseline) || !has(self.baseline.artifact)",message="must not be set with variants: the first one is the baseline of the second",fieldPath=".baseline.artifact",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.ramp) || self.network.template.spec.shards < 1 || self.network.template.spec.shards > 1000 || self.network.template.spec.producersPerShard < 1 || self.network.template.spec.producersPerShard > 64 || self.load.ramp.steps.all(s, s.transfersPerSecond <= self.network.template.spec.shards * self.network.template.spec.producersPerShard * 1000000)",message="transfersPerSecond must be at most 1000000 per producer",fieldPath=".load.ramp.steps",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.constant) || self.network.template.spec.shards < 1 || self.network.template.spec.shards > 1000 || self.network.template.spec.producersPerShard < 1 || self.network.template.spec.producersPerShard > 64 || self.load.constant.transfersPerSecond <= self.network.template.spec.shards * self.network.template.spec.producersPerShard * 1000000",message="must be at most 1000000 per producer",fieldPath=".load.constant.transfersPerSecond",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.fixedCount) || self.network.template.spec.shards < 1 || self.network.template.spec.shards > 1000 || self.network.template.spec.producersPerShard < 1 || self.network.template.spec.producersPerShard > 64 || self.load.fixedCount.transfers <= self.network.template.spec.shards * self.network.template.spec.producersPerShard * 100000000",message="must be at most 100000000 per producer",fieldPath=".load.fixedCount.transfers",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.load.fixedCount) || self.warmUpSeconds == 0",message="must be 0 when the load is of profile FixedCount: what is measured begins with the load",fieldPath=".warmUpSeconds",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.load.fixedCount) || !has(self.criteria) || !self.criteria.exists(c, c.figure == 'OfferedPerSecond')",message="cannot have OfferedPerSecond with a load of profile FixedCount: it has no rate",fieldPath=".criteria",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="has(self.load.fixedCount) || !has(self.criteria) || !self.criteria.exists(c, c.figure == 'CompletionSeconds')",message="cannot have CompletionSeconds without a load of profile FixedCount: no other is complete at any time",fieldPath=".criteria",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="has(self.load.fixedCount) || !has(self.baseline) || !self.baseline.figures.exists(f, f == 'CompletionSeconds')",message="cannot have CompletionSeconds without a load of profile FixedCount: no other is complete at any time",fieldPath=".baseline.figures",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.closedLoop) || self.network.template.spec.shards < 1 || self.network.template.spec.shards > 1000 || self.network.template.spec.producersPerShard < 1 || self.network.template.spec.producersPerShard > 64 || self.load.closedLoop.maxTransfersPerSecond <= self.network.template.spec.shards * self.network.template.spec.producersPerShard * 1000000",message="must be at most 1000000 per producer",fieldPath=".load.closedLoop.maxTransfersPerSecond",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.closedLoop) || self.load.closedLoop.targetBlockTimeMilliseconds > self.network.template.spec.protocol.minBlockTimeMilliseconds",message="must be longer than the minBlockTimeMilliseconds of the network",fieldPath=".load.closedLoop.targetBlockTimeMilliseconds",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.search) || self.network.template.spec.shards < 1 || self.network.template.spec.shards > 1000 || self.network.template.spec.producersPerShard < 1 || self.network.template.spec.producersPerShard > 64 || (self.load.search.maxTransfersPerSecond <= self.network.template.spec.shards * self.network.template.spec.producersPerShard * 1000000 && self.load.search.maxTransfersPerSecond * self.load.search.offeredPercent <= self.network.template.spec.shards * self.network.template.spec.producersPerShard * 100000000)",message="must be at most 1000000 per producer, and so must be the offeredPercent of it",fieldPath=".load.search.maxTransfersPerSecond",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.search) || self.load.search.stepSeconds * 50 >= self.network.template.spec.protocol.minBlockTimeMilliseconds",message="must be at least 20 times the minBlockTimeMilliseconds of the network: fewer blocks do not tell whether a rate holds",fieldPath=".load.search.stepSeconds",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="has(self.load.search) || !has(self.criteria) || !self.criteria.exists(c, c.figure in ['HeldPerSecond', 'ExecutedOfHeldPercent'])",message="cannot have HeldPerSecond or ExecutedOfHeldPercent without a load of profile Search: nothing else finds the rate that holds",fieldPath=".criteria",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.openLoop) || self.network.template.spec.shards < 1 || self.network.template.spec.shards > 1000 || self.network.template.spec.genesis.accountsPerShard < 2 || self.network.template.spec.genesis.accountsPerShard > 1000000 || self.load.openLoop.steps.all(s, s.users <= self.network.template.spec.shards * self.network.template.spec.genesis.accountsPerShard)",message="users must be at most the accounts of all shards: each signs with an account of its own",fieldPath=".load.openLoop.steps",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.load.openLoop) || self.warmUpSeconds + self.durationSeconds <= 86400",message="must be at most 86400 together with warmUpSeconds when the load is of profile OpenLoop: a step lasts no longer",fieldPath=".durationSeconds",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="has(self.load.openLoop) || !has(self.criteria) || !self.criteria.exists(c, c.figure in ['ClientSuccessPercent', 'ClientLatencyP50Milliseconds', 'ClientLatencyP99Milliseconds', 'ClientKneeUsers', 'ClientExecutedOfBestPercent'])",message="cannot have figures of clients without a load of profile OpenLoop: there are no clients",fieldPath=".criteria",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.network.template) || !has(self.load.workload) || !has(self.load.workload.withinShardPercent) || self.load.workload.withinShardPercent == 100 || self.network.template.spec.shards > 1",message="must be 100 with one shard",fieldPath=".load.workload.withinShardPercent",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.criteria) || self.repetitions > 1 || !self.criteria.exists(c, c.figure == 'ExecutedPerSecondSpreadPercent')",message="cannot have ExecutedPerSecondSpreadPercent with one repetition: a spread is between runs",fieldPath=".criteria",reason="FieldValueInvalid"
type BenchmarkSpec struct {
	// network is the network of each run.
	// +required
	Network BenchmarkNetwork `json:"network,omitzero"`

	// load is the load of each run, from the time that all validators are ready.
	// What is measured is measured under the rate of its last step, or once the
	// controller of a closed loop has found a steady one, or a search the highest
	// one that holds. Of the users of an open loop, each step is measured, and the
	// figures are those of the last one. A fixed count is measured from its beginning to
	// the block with the last of it.
	// +required
	Load LoadSpec `json:"load,omitzero"`

	// warmUpSeconds is how long the last step of the load, the steady rate of a
	// closed loop, or what a search has found, lasts before the measurement begins.
	// Each step of an open loop has it. It must be 0 with a fixed count, which is
	// measured from its beginning.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	WarmUpSeconds *int32 `json:"warmUpSeconds,omitempty"`

	// durationSeconds is how long the measurement of each run lasts, and of an open
	// loop that of each step. Of a fixed count it is the longest that it may last: a run
	// in which not all transfers have come to an end by then does not count.
	// +required
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=604800
	DurationSeconds int32 `json:"durationSeconds,omitempty"`

	// repetitions is the number of runs, of each variant if there are two.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Repetitions int32 `json:"repetitions,omitempty"`

	// criteria are what has to come out: the benchmark is Failed if one of them is
	// not met, or if a figure that one is about is not known. Of two variants, they
	// are about the second.
	// +optional
	// +listType=map
	// +listMapKey=figure
	// +kubebuilder:validation:MaxItems=64
	Criteria []BenchmarkCriterion `json:"criteria,omitempty"`

	// variants are two kinds of nodes that are compared, in two sets of runs that
	// are interleaved. The first one is the baseline of the second.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=2
	Variants []BenchmarkVariant `json:"variants,omitempty"`

	// interleaving says how the runs of the variants share the time: one after the
	// other if it is left out.
	// +optional
	Interleaving BenchmarkInterleaving `json:"interleaving,omitempty"`

	// baseline says how the runs are compared with what they should not be worse
	// than: of two variants the second with the first, and without variants the
	// runs with the result of an earlier benchmark.
	// +optional
	Baseline *BenchmarkBaseline `json:"baseline,omitempty"`

	// upload has the result kept in a bucket as well. A benchmark whose result could not
	// be put there does not succeed.
	// +optional
	Upload *BenchmarkUpload `json:"upload,omitempty"`
}

// BenchmarkNetwork is where the network of a run comes from: exactly one of name and
// template.
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.template)",message="exactly one of name and template is required"
type BenchmarkNetwork struct {
	// name is a ShardNetwork that runs, of the namespace of the benchmark; on one
	// machine, a network that shardyard up runs. It carries the load of the runs instead
	// of its own, and has its own again after each. It is neither made nor removed, and
	// its spec is not changed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// template is the network that is made for each run and removed after it.
	// +optional
	Template BenchmarkNetworkTemplate `json:"template,omitzero"`
}

// BenchmarkNetworkTemplate is a network that is made for a run.
// +kubebuilder:validation:XValidation:rule="!has(self.spec.load)",message="must not be set: the load of a run is spec.load of the Benchmark",fieldPath=".spec.load",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.lifetime)",message="must not be set: the network of a run ends with it",fieldPath=".spec.lifetime",reason="FieldValueForbidden"
type BenchmarkNetworkTemplate struct {
	// spec is the spec of the ShardNetwork, without load and lifetime.
	// +required
	Spec ShardNetworkSpec `json:"spec,omitzero"`
}

// BenchmarkVariant is one of two kinds of nodes that are compared.
type BenchmarkVariant struct {
	// name is the name of the variant, a DNS label.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// features are the named switches of the variant's nodes, all of them: they
	// take the place of spec.node.features of the network. What is left out has its
	// default. Without features, the variant has those of the network.
	// +optional
	Features *NodeFeatures `json:"features,omitempty"`

	// image is the container image of the variant's nodes, in a cluster: it takes the
	// place of spec.node.image of the network. Without it, the variant has that. On one
	// machine, shardyard bench run --shardnode VARIANT=PATH names the program instead.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`

	// log is how the variant's nodes log: it takes the place of spec.node.log of the
	// network. Without it, the variant has that.
	// +optional
	Log *NodeLog `json:"log,omitempty"`

	// tracing has the variant's nodes record traces: it takes the place of spec.tracing of
	// the network. Without it, the variant has that.
	// +optional
	Tracing *TracingSpec `json:"tracing,omitempty"`
}

// BenchmarkInterleaving is how the runs of two variants share the time.
// +kubebuilder:validation:Enum=InTurn;SideBySide
type BenchmarkInterleaving string

// The ways in which the runs of two variants share the time.
const (
	// InterleavingInTurn has one run after the other. Each has the machines for itself,
	// and what changes between them is taken for a difference of the variants.
	InterleavingInTurn BenchmarkInterleaving = "InTurn"
	// InterleavingSideBySide has both runs of a repetition at the same time, under a load
	// each that one machine carries twice: what else the machine does, and how fast it is
	// at the moment, is the same for both. In a cluster it is refused, where networks do
	// not share machines.
	InterleavingSideBySide BenchmarkInterleaving = "SideBySide"
)

// BenchmarkBaseline says how a benchmark is compared with its baseline.
//
// For each figure, an interval for its change is estimated from the series of
// the runs. The figure is worse if the whole interval is worse than the floor,
// and then the benchmark is Regressed.
//
// +kubebuilder:validation:XValidation:rule="self.figures.all(f, f in ['IncludedPerSecond', 'ExecutedPerSecond', 'CompletionSeconds', 'BlockTimeMilliseconds', 'BlockTimeP50Milliseconds', 'BlockTimeP95Milliseconds', 'BlockTimeP99Milliseconds', 'BlockTransfersSwingPercent', 'MissedChunksPercent', 'CPUMicrosecondsPerTransfer', 'ProducerCPUMicrosecondsPerTransfer', 'ChunkValidatorCPUMicrosecondsPerTransfer', 'RPCCPUMicrosecondsPerTransfer', 'ArchiveCPUMicrosecondsPerTransfer', 'MemoryMebibytes', 'DiskWrittenBytesPerTransfer'])",message="must be figures that can be compared: IncludedPerSecond, ExecutedPerSecond, CompletionSeconds, BlockTimeMilliseconds and its percentiles P50, P95 and P99, BlockTransfersSwingPercent, MissedChunksPercent, CPUMicrosecondsPerTransfer and those of the roles Producer, ChunkValidator, RPC and Archive, MemoryMebibytes, DiskWrittenBytesPerTransfer",fieldPath=".figures",reason="FieldValueInvalid"
type BenchmarkBaseline struct {
	// figures are what is compared.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Figures []BenchmarkFigure `json:"figures,omitempty"`

	// confidencePercent is how often an interval made like this holds the change
	// that there is.
	// +optional
	// +kubebuilder:default=95
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=99
	ConfidencePercent int32 `json:"confidencePercent,omitempty"`

	// floorPercent is the least change that matters, in percent of the baseline's
	// figure; in percentage points of a figure that is a percentage itself.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FloorPercent *int32 `json:"floorPercent,omitempty"`

	// artifact is the earlier result that the runs are compared with, in a cluster and
	// without variants: what status.artifact of a benchmark in the same namespace says. A
	// BenchmarkSchedule fills it in. On one machine, shardyard bench run --baseline
	// names the result instead.
	// +optional
	Artifact *BenchmarkArtifact `json:"artifact,omitempty"`
}
