// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
)

// What a network that is there can carry, up to the last transfer.
func TestMisfit(t *testing.T) {
	t.Parallel()
	constant := func(rate int64) v1alpha1.LoadSpec {
		return v1alpha1.LoadSpec{Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: &rate}}
	}
	closedLoop := func(target int32, most int64) v1alpha1.LoadSpec {
		return v1alpha1.LoadSpec{ClosedLoop: &v1alpha1.ClosedLoopLoad{TargetBlockTimeMilliseconds: target, MaxTransfersPerSecond: most}}
	}
	search := func(step, offered int32, most int64) v1alpha1.LoadSpec {
		return v1alpha1.LoadSpec{Search: &v1alpha1.SearchLoad{StepSeconds: step, OfferedPercent: offered, MaxTransfersPerSecond: most}}
	}
	within := func(percent int32) v1alpha1.LoadSpec {
		load := constant(1)
		load.Workload = &v1alpha1.Workload{WithinShardPercent: &percent}
		return load
	}
	ramp := func(rates ...int64) (load v1alpha1.LoadSpec) {
		load.Ramp = &v1alpha1.RampLoad{}
		for _, rate := range rates {
			load.Ramp.Steps = append(load.Ramp.Steps, v1alpha1.RampStep{TransfersPerSecond: ptr.To(rate)})
		}
		return load
	}
	count := func(transfers int64) v1alpha1.LoadSpec {
		return v1alpha1.LoadSpec{FixedCount: &v1alpha1.FixedCountLoad{Transfers: transfers}}
	}
	before := func(load v1alpha1.LoadSpec) v1alpha1.LoadSpec {
		load.Signing = v1alpha1.SigningBefore
		for i := range load.Ramp.Steps {
			load.Ramp.Steps[i].DurationSeconds = 1000
		}
		load.Profile = v1alpha1.LoadProfileRamp
		return load
	}
	constantBefore := func(rate int64) v1alpha1.LoadSpec {
		load := constant(rate)
		load.Profile, load.Signing = v1alpha1.LoadProfileConstant, v1alpha1.SigningBefore
		return load
	}
	for name, test := range map[string]struct {
		load   v1alpha1.LoadSpec
		shards int32
		want   string
	}{
		"as much as two producers sign":  {constant(2_000_000), 1, ""},
		"more than two producers sign":   {constant(2_000_001), 1, "asks for 2000001 transfers per second, and its producers sign 2000000"},
		"a step of more":                 {ramp(1, 2_000_001, 1), 1, "its producers sign 2000000 at most"},
		"steps of less":                  {ramp(1, 2_000_000), 1, ""},
		"a loop up to that":              {closedLoop(501, 2_000_000), 1, ""},
		"a loop beyond that":             {closedLoop(501, 2_000_001), 1, "its producers sign 2000000 at most"},
		"blocks that are never so short": {closedLoop(500, 1), 1, "aims at blocks of 500 ms, and its blocks take 500 ms at least"},
		"a search in steps of 20 blocks": {search(10, 100, 2_000_000), 1, ""},
		"a search in steps of less":      {search(9, 100, 1), 1, "tries each rate for 9 s, which is less than 20 blocks of 500 ms"},
		"a search that then offers more": {search(10, 200, 1_000_001), 1, "asks for 2000002 transfers per second"},
		"as many as two sign before":     {count(200_000_000), 1, ""},
		"more than two sign before":      {count(200_000_001), 2, "has 200000001 transfers, and its producers sign 200000000 at most before"},
		// With the warm-up and the margin, the last step lasts for 1100 s.
		"a rate that two can sign before":    {constantBefore(181_818), 2, ""},
		"a rate of which one has more":       {constantBefore(181_819), 2, "has to sign 100001000 transfers before the load"},
		"steps that two can sign before":     {before(ramp(100_000, 81_818)), 1, ""},
		"steps of which the sum is more":     {before(ramp(100_000, 100_000)), 1, "has to sign 105000000 transfers before the load"},
		"as much as they do not sign before": {ramp(1_000_000, 1_000_000), 1, ""},
		"transfers to other shards":          {within(50), 2, ""},
		"transfers to shards there is not":   {within(50), 1, "has 50 percent of transfers within their shard, and it has no other shard"},
		"transfers of the only shard":        {within(100), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := &v1alpha1.ShardNetworkSpec{Shards: test.shards, ProducersPerShard: 2 / test.shards}
			network.Protocol.MinBlockTimeMilliseconds = 500
			got := bench.Misfit(network, &v1alpha1.BenchmarkSpec{Load: test.load, WarmUpSeconds: ptr.To[int32](100), DurationSeconds: 900})
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("the network does not fit because %q, want %q", got, test.want)
			}
		})
	}
}
