// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/statistics"
	"github.com/shardyard/shardyard/internal/topology"
)

// Better says which way a figure is better.
type Better int

const (
	// Neither is of figures that describe a run and do not judge it.
	Neither Better = iota
	// Higher is of figures such as rates.
	Higher
	// Lower is of figures such as costs.
	Lower
)

// Definition is what a figure is.
type Definition struct {
	Name v1alpha1.BenchmarkFigure
	// Title names the figure for people.
	Title string
	Unit  string
	// Better says which way a change is one for the better.
	Better Better
	// Points says that changes are differences: of figures that are percentages,
	// and may be 0. Those of others are ratios.
	Points bool

	rows     func(run *result.Run) []statistics.Row
	estimate statistics.Estimator
	// single says that the figure is of one moment of a run, so that no interval
	// can be made by drawing moments.
	single bool
}

const (
	perSecond    = "transfers/s"
	milliseconds = "ms"
	percent      = "%"
	mebibytes    = "MiB"
	mebibyte     = 1 << 20
	kibibyte     = 1 << 10
	// milli makes milliseconds of seconds.
	milli = 1000
)

// definitions are all figures of a run, in the order in which they are shown.
var definitions = []Definition{
	{
		Name: v1alpha1.FigureExecutedPerSecond, Title: "executed (TPS)", Unit: perSecond, Better: Higher,
		rows: blockRates(func(block *result.Block) *uint64 { return &block.Executed }), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureCompletionSeconds, Title: "until the last of the transfers", Unit: "s", Better: Lower,
		rows: completion, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureIncludedPerSecond, Title: "included", Unit: perSecond, Better: Higher,
		rows: blockRates(func(block *result.Block) *uint64 { return &block.Included }), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureFailedPerSecond, Title: "failed", Unit: perSecond, Better: Lower,
		rows: blockRates(func(block *result.Block) *uint64 { return block.Failed }), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureAcceptedPerSecond, Title: "accepted", Unit: perSecond, Better: Higher,
		rows: acceptedRows, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureOfferedPerSecond, Title: "offered", Unit: perSecond, Better: Neither,
		rows: offeredRows, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureHeldPerSecond, Title: "highest rate that holds", Unit: perSecond, Better: Higher,
		rows: held, estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureExecutedOfHeldPercent, Title: "executed, of the highest rate that holds", Unit: percent, Better: Higher,
		Points: true, rows: executedOfHeld, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureClientSuccessPercent, Title: "executed, of what clients offered", Unit: percent, Better: Higher, Points: true,
		rows: succeeded, estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureClientLatencyP50Milliseconds, Title: "until a client knows, median", Unit: milliseconds, Better: Lower,
		rows: clientLatency(func(times *result.Latency) float64 { return times.P50 }), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureClientLatencyP99Milliseconds, Title: "until a client knows, 99th percentile", Unit: milliseconds, Better: Lower,
		rows: clientLatency(func(times *result.Latency) float64 { return times.P99 }), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureClientKneeUsers, Title: "most users that hold", Unit: "users", Better: Higher,
		rows: kneeUsers, estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureClientExecutedOfBestPercent, Title: "executed, of the most with any users", Unit: percent,
		Better: Higher, Points: true, rows: executedOfBest, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureBlockTimeMilliseconds, Title: "block time", Unit: milliseconds, Better: Lower,
		rows: blockTimes, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureBlockTimeP50Milliseconds, Title: "block time, median", Unit: milliseconds, Better: Lower,
		rows: blockTimes, estimate: statistics.Quantile(0.5),
	},
	{
		Name: v1alpha1.FigureBlockTimeP95Milliseconds, Title: "block time, 95th percentile", Unit: milliseconds, Better: Lower,
		rows: blockTimes, estimate: statistics.Quantile(0.95),
	},
	{
		Name: v1alpha1.FigureBlockTimeP99Milliseconds, Title: "block time, 99th percentile", Unit: milliseconds, Better: Lower,
		rows: blockTimes, estimate: statistics.Quantile(0.99),
	},
	{
		Name: v1alpha1.FigureBlockTimeMaxMilliseconds, Title: "block time, longest", Unit: milliseconds, Better: Lower,
		rows: blockTimes, estimate: statistics.Max, single: true,
	},
	{
		Name: v1alpha1.FigureBlockTransfersSwingPercent, Title: "swing of the transfers in a block", Unit: percent, Better: Lower,
		Points: true, rows: blockSwings, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureMissedChunksPercent, Title: "missed chunks", Unit: percent, Better: Lower, Points: true,
		rows: missedChunks, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureCPUMicrosecondsPerTransfer, Title: "CPU per transfer", Unit: "µs", Better: Lower,
		rows: sampleRows(cpuMicroseconds, executed), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureProducerCPUMicrosecondsPerTransfer, Title: "CPU per transfer, of producers", Unit: "µs", Better: Lower,
		rows: sampleRows(cpuMicrosecondsOf(topology.RoleProducer), executed), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureChunkValidatorCPUMicrosecondsPerTransfer, Title: "CPU per transfer, of chunk validators", Unit: "µs",
		Better: Lower, rows: sampleRows(cpuMicrosecondsOf(topology.RoleChunkValidator), executed), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureRPCCPUMicrosecondsPerTransfer, Title: "CPU per transfer, of rpc nodes", Unit: "µs", Better: Lower,
		rows: sampleRows(cpuMicrosecondsOf(topology.RoleRPC), executed), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureArchiveCPUMicrosecondsPerTransfer, Title: "CPU per transfer, of archives", Unit: "µs", Better: Lower,
		rows: sampleRows(cpuMicrosecondsOf(topology.RoleArchive), executed), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureCPUCores, Title: "CPU of all nodes", Unit: "cores", Better: Neither,
		rows: sampleRows(cpuSeconds, seconds), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureMemoryMebibytes, Title: "memory of all nodes", Unit: mebibytes, Better: Lower,
		rows: memory, estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigurePeakMemoryMebibytes, Title: "memory of all nodes, most", Unit: mebibytes, Better: Lower,
		rows: peakMemory, estimate: statistics.Max, single: true,
	},
	{
		Name: v1alpha1.FigureDiskWrittenBytesPerTransfer, Title: "written to disk per transfer", Unit: "bytes", Better: Lower,
		rows: sampleRows(diskWritten, executed), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureNetworkSentBytesPerTransfer, Title: "sent to other nodes per transfer", Unit: "bytes", Better: Lower,
		rows: perTransfer(result.SentMetric), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureFinalityLagMilliseconds, Title: "finality lag", Unit: milliseconds, Better: Lower,
		rows: means(result.FinalityLagMetric, milli), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureFinalityLagP50Milliseconds, Title: "finality lag, median", Unit: milliseconds, Better: Lower,
		rows: buckets(result.FinalityLagMetric, milli), estimate: bucketQuantile(0.5), single: true,
	},
	{
		Name: v1alpha1.FigureFinalityLagP95Milliseconds, Title: "finality lag, 95th percentile", Unit: milliseconds, Better: Lower,
		rows: buckets(result.FinalityLagMetric, milli), estimate: bucketQuantile(0.95), single: true,
	},
	{
		Name: v1alpha1.FigureFinalityLagP99Milliseconds, Title: "finality lag, 99th percentile", Unit: milliseconds, Better: Lower,
		rows: buckets(result.FinalityLagMetric, milli), estimate: bucketQuantile(0.99), single: true,
	},
	{
		Name: v1alpha1.FigureExecutionMilliseconds, Title: "execution of a chunk", Unit: milliseconds, Better: Lower,
		rows: means(result.ExecutionMetric, milli), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureWitnessKibibytes, Title: "state witness", Unit: "KiB", Better: Lower,
		rows: means(result.WitnessBytesMetric, 1.0/kibibyte), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureWitnessMakeMilliseconds, Title: "making a witness", Unit: milliseconds, Better: Lower,
		rows: means(result.WitnessMakeMetric, milli), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureWitnessReceiveMilliseconds, Title: "receiving a witness", Unit: milliseconds, Better: Lower,
		rows: means(result.WitnessReceiveMetric, milli), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureWitnessValidationMilliseconds, Title: "validating a witness", Unit: milliseconds, Better: Lower,
		rows: means(result.WitnessValidationMetric, milli), estimate: statistics.Rate, single: true,
	},
	{
		Name: v1alpha1.FigureHostStolenPercent, Title: "stolen by a hypervisor", Unit: percent, Better: Neither, Points: true,
		rows: sampleRows(stolenPercent, wanted), estimate: statistics.Rate,
	},
	{
		Name: v1alpha1.FigureHostWorkMicroseconds, Title: "a fixed piece of work", Unit: "µs", Better: Neither,
		rows: sampleRows(hostWork, once), estimate: statistics.Rate,
	},
}

// spread is about runs and not of any of them.
var spread = Definition{
	Name: v1alpha1.FigureExecutedPerSecondSpreadPercent, Title: "spread of the runs' TPS", Unit: percent, Better: Lower, Points: true,
}

// All are the definitions of all figures, in the order in which they are shown.
func All() []Definition {
	// The spread comes after what it is the spread of.
	return slices.Insert(slices.Clone(definitions), 1, spread)
}

// Define is the definition of a figure.
func Define(name v1alpha1.BenchmarkFigure) (Definition, bool) {
	all := All()
	at := slices.IndexFunc(all, func(definition Definition) bool { return definition.Name == name })
	if at < 0 {
		return Definition{}, false
	}
	return all[at], true
}
