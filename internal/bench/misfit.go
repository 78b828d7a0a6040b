// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// MaxProducerRate is the most that a producer signs, in transfers per second.
	MaxProducerRate = 1_000_000
	// maxProducerStock is the most that it signs before a load.
	maxProducerStock = 100_000_000
	// minStepBlocks is how many blocks tell at least whether a rate holds.
	minStepBlocks = 20
)

// Misfit says why a network cannot carry the load of a benchmark; empty when it can.
// Of a network that is made from the template of a benchmark, the API server says it, but
// for what producers sign before: that is a sum over steps.
func Misfit(network *v1alpha1.ShardNetworkSpec, benchmark *v1alpha1.BenchmarkSpec) string {
	load := &benchmark.Load
	producers := int64(network.Shards) * int64(network.ProducersPerShard)
	most := producers * MaxProducerRate
	if asked := mostAsked(load); asked > most {
		return fmt.Sprintf("the load asks for %d transfers per second, and its producers sign %d at most", asked, most)
	}
	if count := load.FixedCount; count != nil && count.Transfers > producers*maxProducerStock {
		return fmt.Sprintf("the load has %d transfers, and its producers sign %d at most before a load",
			count.Transfers, producers*maxProducerStock)
	}
	if share := largestStock(producers, benchmark); share > maxProducerStock {
		return fmt.Sprintf("a producer has to sign %d transfers before the load, for its warm-up and measurement as well, and signs %d at most",
			share, maxProducerStock)
	}
	shortest := int64(network.Protocol.MinBlockTimeMilliseconds)
	if loop := load.ClosedLoop; loop != nil && int64(loop.TargetBlockTimeMilliseconds) <= shortest {
		return fmt.Sprintf("the load aims at blocks of %d ms, and its blocks take %d ms at least",
			loop.TargetBlockTimeMilliseconds, shortest)
	}
	if search := load.Search; search != nil && int64(search.StepSeconds)*1000 < minStepBlocks*shortest {
		return fmt.Sprintf("the search tries each rate for %d s, which is less than %d blocks of %d ms",
			search.StepSeconds, minStepBlocks, shortest)
	}
	if workload := load.Workload; workload != nil && workload.WithinShardPercent != nil &&
		*workload.WithinShardPercent != 100 && network.Shards == 1 {
		return fmt.Sprintf("the load has %d percent of transfers within their shard, and it has no other shard", *workload.WithinShardPercent)
	}
	return ""
}

// largestStock is the most that one of so many producers signs before a load that has a
// schedule; 0 if they sign it meanwhile.
func largestStock(producers int64, benchmark *v1alpha1.BenchmarkSpec) int64 {
	schedule, err := NewSchedule(&benchmark.Load)
	if err != nil || benchmark.Load.Signing != v1alpha1.SigningBefore || producers < 1 {
		return 0
	}
	validators := slices.Repeat([]topology.Validator{{Role: topology.RoleProducer}}, int(producers))
	return slices.Max(schedule.Stock(schedule.Lasts(Measured(benchmark)), validators))
}

// mostAsked is the highest rate that a load can come to.
func mostAsked(load *v1alpha1.LoadSpec) (most int64) {
	switch {
	case load.Ramp != nil:
		for _, step := range load.Ramp.Steps {
			if step.TransfersPerSecond != nil {
				most = max(most, *step.TransfersPerSecond)
			}
		}
	case load.Constant != nil && load.Constant.TransfersPerSecond != nil:
		most = *load.Constant.TransfersPerSecond
	case load.ClosedLoop != nil:
		most = load.ClosedLoop.MaxTransfersPerSecond
	case load.Search != nil:
		most = load.Search.MaxTransfersPerSecond * int64(max(100, load.Search.OfferedPercent)) / 100
	}
	return most
}
