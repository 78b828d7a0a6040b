// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// BenchmarkFigure names a figure of a benchmark. Rates and block times are over
// the measured blocks of all runs of a variant together.
// +kubebuilder:validation:Enum=OfferedPerSecond;AcceptedPerSecond;IncludedPerSecond;ExecutedPerSecond;FailedPerSecond;ExecutedPerSecondSpreadPercent;CompletionSeconds;HeldPerSecond;ExecutedOfHeldPercent;ClientSuccessPercent;ClientLatencyP50Milliseconds;ClientLatencyP99Milliseconds;ClientKneeUsers;ClientExecutedOfBestPercent;BlockTimeMilliseconds;BlockTimeP50Milliseconds;BlockTimeP95Milliseconds;BlockTimeP99Milliseconds;BlockTimeMaxMilliseconds;BlockTransfersSwingPercent;MissedChunksPercent;CPUMicrosecondsPerTransfer;ProducerCPUMicrosecondsPerTransfer;ChunkValidatorCPUMicrosecondsPerTransfer;RPCCPUMicrosecondsPerTransfer;ArchiveCPUMicrosecondsPerTransfer;CPUCores;MemoryMebibytes;PeakMemoryMebibytes;DiskWrittenBytesPerTransfer;NetworkSentBytesPerTransfer;FinalityLagMilliseconds;FinalityLagP50Milliseconds;FinalityLagP95Milliseconds;FinalityLagP99Milliseconds;ExecutionMilliseconds;WitnessKibibytes;WitnessMakeMilliseconds;WitnessReceiveMilliseconds;WitnessValidationMilliseconds;HostStolenPercent;HostWorkMicroseconds
type BenchmarkFigure string

// The figures of a benchmark.
const (
	// FigureOfferedPerSecond is the rate of the load spec. A fixed count has none.
	FigureOfferedPerSecond BenchmarkFigure = "OfferedPerSecond"
	// FigureAcceptedPerSecond is the rate of transfers that pools took.
	FigureAcceptedPerSecond BenchmarkFigure = "AcceptedPerSecond"
	// FigureIncludedPerSecond is the rate of transfers in the chunks of finalised
	// blocks.
	FigureIncludedPerSecond BenchmarkFigure = "IncludedPerSecond"
	// FigureExecutedPerSecond is the rate of transfers that finalised headers
	// commit as executed: TPS.
	FigureExecutedPerSecond BenchmarkFigure = "ExecutedPerSecond"
	// FigureFailedPerSecond is the rate of transfers that were in chunks of
	// finalised blocks and moved nothing when they were executed.
	FigureFailedPerSecond BenchmarkFigure = "FailedPerSecond"
	// FigureExecutedPerSecondSpreadPercent is how far the runs of a variant are
	// apart in ExecutedPerSecond: (max - min) / median.
	FigureExecutedPerSecondSpreadPercent BenchmarkFigure = "ExecutedPerSecondSpreadPercent"
	// FigureCompletionSeconds is the time from the beginning of a fixed count of
	// transfers to the timestamp of the block whose headers commit to the execution of
	// the last of them.
	FigureCompletionSeconds BenchmarkFigure = "CompletionSeconds"
	// FigureHeldPerSecond is the highest rate of load that a search found to hold.
	FigureHeldPerSecond BenchmarkFigure = "HeldPerSecond"
	// FigureExecutedOfHeldPercent is ExecutedPerSecond of that rate: below 100 where
	// a chain that is offered more than it carries does less than it could.
	FigureExecutedOfHeldPercent BenchmarkFigure = "ExecutedOfHeldPercent"
	// FigureClientSuccessPercent is how many in a hundred of the transfers of the users
	// of an open loop were executed, of its last step.
	FigureClientSuccessPercent BenchmarkFigure = "ClientSuccessPercent"
	// FigureClientLatencyP50Milliseconds is the median of the times from when these
	// were due until a user knew that a finalised block had executed them.
	FigureClientLatencyP50Milliseconds BenchmarkFigure = "ClientLatencyP50Milliseconds"
	// FigureClientLatencyP99Milliseconds is their 99th percentile.
	FigureClientLatencyP99Milliseconds BenchmarkFigure = "ClientLatencyP99Milliseconds"
	// FigureClientKneeUsers is the highest number of users of an open loop of whose
	// transfers at least 98 in a hundred were executed.
	FigureClientKneeUsers BenchmarkFigure = "ClientKneeUsers"
	// FigureClientExecutedOfBestPercent is ExecutedPerSecond of the highest one that any
	// step of an open loop has: below 100 where fewer transfers succeed of more users.
	FigureClientExecutedOfBestPercent BenchmarkFigure = "ClientExecutedOfBestPercent"
	// FigureBlockTimeMilliseconds is the mean difference of the timestamps of
	// consecutive finalised blocks.
	FigureBlockTimeMilliseconds BenchmarkFigure = "BlockTimeMilliseconds"
	// FigureBlockTimeP50Milliseconds is the median of these differences.
	FigureBlockTimeP50Milliseconds BenchmarkFigure = "BlockTimeP50Milliseconds"
	// FigureBlockTimeP95Milliseconds is their 95th percentile.
	FigureBlockTimeP95Milliseconds BenchmarkFigure = "BlockTimeP95Milliseconds"
	// FigureBlockTimeP99Milliseconds is their 99th percentile.
	FigureBlockTimeP99Milliseconds BenchmarkFigure = "BlockTimeP99Milliseconds"
	// FigureBlockTimeMaxMilliseconds is the largest of them.
	FigureBlockTimeMaxMilliseconds BenchmarkFigure = "BlockTimeMaxMilliseconds"
	// FigureBlockTransfersSwingPercent is by how many transfers a finalised block
	// differs from the one before, in the mean and of the mean: 0 of blocks that are
	// all as full, 67 of blocks that are full and half full in turn.
	FigureBlockTransfersSwingPercent BenchmarkFigure = "BlockTransfersSwingPercent"
	// FigureMissedChunksPercent is the share of the chunks that finalised blocks
	// could have had and do not.
	FigureMissedChunksPercent BenchmarkFigure = "MissedChunksPercent"
	// FigureCPUMicrosecondsPerTransfer is the CPU time of all nodes together for
	// each executed transfer.
	FigureCPUMicrosecondsPerTransfer BenchmarkFigure = "CPUMicrosecondsPerTransfer"
	// FigureProducerCPUMicrosecondsPerTransfer is that of the producers alone; it and
	// those of the other roles add up to it, and a network without a role has none of it.
	FigureProducerCPUMicrosecondsPerTransfer BenchmarkFigure = "ProducerCPUMicrosecondsPerTransfer"
	// FigureChunkValidatorCPUMicrosecondsPerTransfer is that of the chunk validators.
	FigureChunkValidatorCPUMicrosecondsPerTransfer BenchmarkFigure = "ChunkValidatorCPUMicrosecondsPerTransfer"
	// FigureRPCCPUMicrosecondsPerTransfer is that of the rpc nodes.
	FigureRPCCPUMicrosecondsPerTransfer BenchmarkFigure = "RPCCPUMicrosecondsPerTransfer"
	// FigureArchiveCPUMicrosecondsPerTransfer is that of the archives.
	FigureArchiveCPUMicrosecondsPerTransfer BenchmarkFigure = "ArchiveCPUMicrosecondsPerTransfer"
	// FigureCPUCores is how many cores all nodes together kept busy.
	FigureCPUCores BenchmarkFigure = "CPUCores"
	// FigureMemoryMebibytes is the mean memory of all nodes together, without
	// what is mapped from files.
	FigureMemoryMebibytes BenchmarkFigure = "MemoryMebibytes"
	// FigurePeakMemoryMebibytes is the most that it was.
	FigurePeakMemoryMebibytes BenchmarkFigure = "PeakMemoryMebibytes"
	// FigureDiskWrittenBytesPerTransfer is what all nodes together had the disk
	// write for each executed transfer.
	FigureDiskWrittenBytesPerTransfer BenchmarkFigure = "DiskWrittenBytesPerTransfer"
	// FigureNetworkSentBytesPerTransfer is what all nodes together sent to others
	// for each executed transfer.
	FigureNetworkSentBytesPerTransfer BenchmarkFigure = "NetworkSentBytesPerTransfer"
	// FigureFinalityLagMilliseconds is the mean time from the timestamp of a block
	// until a node processes it as finalised.
	FigureFinalityLagMilliseconds BenchmarkFigure = "FinalityLagMilliseconds"
	// FigureFinalityLagP50Milliseconds is the median of these times, as far as the
	// buckets tell that the nodes count in.
	FigureFinalityLagP50Milliseconds BenchmarkFigure = "FinalityLagP50Milliseconds"
	// FigureFinalityLagP95Milliseconds is their 95th percentile.
	FigureFinalityLagP95Milliseconds BenchmarkFigure = "FinalityLagP95Milliseconds"
	// FigureFinalityLagP99Milliseconds is their 99th percentile.
	FigureFinalityLagP99Milliseconds BenchmarkFigure = "FinalityLagP99Milliseconds"
	// FigureExecutionMilliseconds is the mean time of a producer to execute a chunk
	// of its shard and to make that durable.
	FigureExecutionMilliseconds BenchmarkFigure = "ExecutionMilliseconds"
	// FigureWitnessKibibytes is the mean size of a state witness, compressed.
	FigureWitnessKibibytes BenchmarkFigure = "WitnessKibibytes"
	// FigureWitnessMakeMilliseconds is the mean time to make one and its parts.
	FigureWitnessMakeMilliseconds BenchmarkFigure = "WitnessMakeMilliseconds"
	// FigureWitnessReceiveMilliseconds is the mean time from the first part of one
	// until it can be validated.
	FigureWitnessReceiveMilliseconds BenchmarkFigure = "WitnessReceiveMilliseconds"
	// FigureWitnessValidationMilliseconds is the mean time to validate one.
	FigureWitnessValidationMilliseconds BenchmarkFigure = "WitnessValidationMilliseconds"
	// FigureHostStolenPercent is the share of the processor time that programs of
	// the machine wanted, whoever's, and a hypervisor gave to others.
	FigureHostStolenPercent BenchmarkFigure = "HostStolenPercent"
	// FigureHostWorkMicroseconds is the processor time that a piece of work took that is
	// the same each time, on the machine of all runs: how fast its processors were.
	FigureHostWorkMicroseconds BenchmarkFigure = "HostWorkMicroseconds"
)

// BenchmarkCriterion is what a figure has to be.
// +kubebuilder:validation:XValidation:rule="has(self.atLeast) || has(self.atMost)",message="needs atLeast or atMost",reason="FieldValueRequired"
// +kubebuilder:validation:XValidation:rule="!has(self.atLeast) || !has(self.atMost) || string(self.atLeast).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self.atLeast)) || string(self.atMost).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self.atMost)) || quantity(string(self.atLeast)).compareTo(quantity(string(self.atMost))) <= 0",message="must not be less than atLeast",fieldPath=".atMost",reason="FieldValueInvalid"
type BenchmarkCriterion struct {
	// figure is what the criterion is about.
	// +required
	Figure BenchmarkFigure `json:"figure,omitempty"`

	// atLeast is the least that the figure may be, such as 1900 or "0.5".
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('-1E')) >= 0 && quantity(string(self)).compareTo(quantity('1E')) <= 0",message="must be between -1E and 1E",reason="FieldValueInvalid"
	AtLeast *resource.Quantity `json:"atLeast,omitempty"`

	// atMost is the most that the figure may be.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('-1E')) >= 0 && quantity(string(self)).compareTo(quantity('1E')) <= 0",message="must be between -1E and 1E",reason="FieldValueInvalid"
	AtMost *resource.Quantity `json:"atMost,omitempty"`
}
