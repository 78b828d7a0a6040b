// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"errors"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
)

// told makes the sample of a node that has finalised a height, whose block has
// a time in milliseconds.
func told(name string, height uint64, timeMs int64, transfers uint64, cpu time.Duration) bench.NodeSample {
	return bench.NodeSample{
		Name:   name,
		Status: &chain.Status{Node: name, FinalizedHeight: height, FinalizedTimeMs: timeMs, Transfers: transfers},
		CPU:    cpu,
	}
}

func silent(name string, cpu time.Duration) bench.NodeSample {
	return bench.NodeSample{Name: name, CPU: cpu}
}

func sample(nodes ...bench.NodeSample) bench.Sample {
	return bench.Sample{Nodes: nodes}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		from, to bench.Sample
		want     bench.Measurement
	}{
		"the node that knew most": {
			sample(told("a", 10, 1000, 100, time.Second), told("b", 12, 1500, 150, 2*time.Second)),
			sample(told("a", 30, 6000, 900, 2*time.Second), told("b", 32, 6500, 1150, 4*time.Second)),
			bench.Measurement{Window: 5 * time.Second, Blocks: 20, Transfers: 1000, CPU: 3 * time.Second},
		},
		"not a node that is gone": {
			sample(told("a", 10, 1000, 100, time.Second), told("b", 12, 1500, 150, 2*time.Second)),
			sample(told("a", 30, 6000, 900, 2*time.Second), silent("b", 3*time.Second)),
			bench.Measurement{Window: 5 * time.Second, Blocks: 20, Transfers: 800, CPU: 2 * time.Second},
		},
		"not a node that stood still": {
			sample(told("a", 10, 1000, 100, 0), told("b", 12, 1500, 150, 0)),
			sample(told("a", 30, 6000, 900, 0), told("b", 12, 1500, 150, 0)),
			bench.Measurement{Window: 5 * time.Second, Blocks: 20, Transfers: 800},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := bench.Measure(test.from, test.to)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("measures %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestNothingToMeasure(t *testing.T) {
	t.Parallel()
	full := sample(told("a", 10, 1000, 100, 0))
	for name, samples := range map[string][2]bench.Sample{
		"the same sample twice": {full, full},
		"nobody answered first": {sample(silent("a", 0)), full},
		"nobody answered last":  {full, sample(silent("a", 0))},
		"no node in common":     {full, sample(told("b", 20, 2000, 100, 0))},
	} {
		if got, err := bench.Measure(samples[0], samples[1]); !errors.Is(err, bench.ErrNoBlocks) {
			t.Errorf("%s: measures %+v, error %v, want %v", name, got, err, bench.ErrNoBlocks)
		}
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	measured := bench.Measurement{Window: 5 * time.Second, Blocks: 20, Transfers: 10_000, CPU: 2 * time.Second}
	if got, want := measured.TPS(), 2000.0; got != want {
		t.Errorf("TPS is %f, want %f", got, want)
	}
	if got, want := measured.BlockTime(), 250*time.Millisecond; got != want {
		t.Errorf("block time is %s, want %s", got, want)
	}
	if got, ok := measured.CPUPerTransfer(); !ok || got != 200*time.Microsecond {
		t.Errorf("CPU per transfer is %s (%t), want 200µs", got, ok)
	}
	if got, ok := (bench.Measurement{CPU: time.Second}).CPUPerTransfer(); ok {
		t.Errorf("CPU per transfer without transfers is %s, want none", got)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	const second = 1000
	begin := time.UnixMilli(100 * second)
	at := func(seconds int64, height, transfers uint64) bench.Sample {
		return sample(told("a", height, (100+seconds)*second, transfers, 0))
	}
	cases := map[string]struct {
		samples []bench.Sample
		last    bench.Sample
		// want is the window in seconds; 0 when there is nothing to measure.
		want int64
	}{
		"from the last step on":         {[]bench.Sample{at(0, 1, 0), at(3, 2, 0), at(7, 3, 0), at(8, 4, 0)}, at(20, 9, 0), 13},
		"at least ten seconds of it":    {[]bench.Sample{at(0, 1, 0), at(7, 3, 0)}, at(16, 9, 0), 16},
		"the last step was not reached": {[]bench.Sample{at(0, 1, 0), at(3, 2, 0)}, at(5, 9, 0), 5},
		"nobody answers at first":       {[]bench.Sample{sample(silent("a", 0)), at(2, 1, 0)}, at(5, 9, 0), 3},
		"nobody answers at all":         {[]bench.Sample{sample(silent("a", 0))}, at(5, 9, 0), 0},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			window := bench.Window{Begin: begin, Settled: 7 * time.Second}
			for _, sample := range test.samples {
				window.Observe(sample)
			}
			got, err := window.Measure(test.last)
			if test.want == 0 {
				if !errors.Is(err, bench.ErrNoBlocks) {
					t.Errorf("measures %+v, error %v, want %v", got, err, bench.ErrNoBlocks)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := time.Duration(test.want) * time.Second; got.Window != want {
				t.Errorf("the window is %s, want %s", got.Window, want)
			}
		})
	}
}
