// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"math"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// run is a run of 30 s of which the last 20 s are measured. Everything in it
// rises by the second: 100 transfers are included, 90 of them executed, in four
// blocks; the nodes use half a core.
func run(cost float64) *result.Run {
	made := &result.Run{
		Window: result.Window{BeginMs: 10_000, EndMs: 30_000}, Counts: counts(), Search: &result.Search{HeldPerSecond: 100},
		FixedCount: &result.FixedCount{Transfers: 1800, Executed: 1800, LastHeight: 120},
		OpenLoop: &result.OpenLoop{KneeUsers: 500, Steps: []result.OpenLoopStep{
			{Users: 500, Transfers: result.ClientTransfers{Offered: 200, Executed: 200}, ExecutedPerSecond: ptr.To(120.0)},
			{
				Users: 1000, Transfers: result.ClientTransfers{Offered: 400, Executed: 100}, OfferedPerSecond: 120, AcceptedPerSecond: 110,
				ExecutedPerSecond: ptr.To(90.0), ExecutedMs: result.Latency{Count: 100, P50: 700, P99: 1900},
			},
		}},
	}
	for block := range 125 {
		made.Blocks = append(made.Blocks, result.Block{
			Height: uint64(block), TimestampMs: int64(block) * 250,
			Included: 25, Executed: 22 + uint64(block%2), Failed: ptr.To[uint64](2), Shards: 4, MissedChunks: block % 2,
		})
	}
	for second := range 31 {
		elapsed := float64(second)
		made.Samples = append(made.Samples, result.Sample{
			TimeMs: int64(second) * 1000, OfferedPerSecond: 120,
			Signed: ptr.To(uint64(second) * 119), Rejected: ptr.To(uint64(second) * 9),
			CPUSeconds: ptr.To(elapsed * cost), MemoryBytes: ptr.To(uint64(second) << 20),
			DiskWrittenBytes: ptr.To(uint64(second) * 9000),
			CPUSecondsByRole: map[string]float64{
				"producer": elapsed * cost / 2, "chunkValidator": elapsed * cost / 4, "rpc": elapsed * cost / 5, "archive": elapsed * cost / 20,
			},
			HostBusySeconds: ptr.To(elapsed), HostStolenSeconds: ptr.To(elapsed / 4),
			HostWorkMicroseconds: ptr.To(300.0),
		})
	}
	return made
}

// counts are those of a run with 100 transfers. Half of what was observed is below
// a tenth of a second, four tenths below a fifth, and a tenth above.
func counts() *result.Counts {
	counts := &result.Counts{Counters: []result.Counter{
		{Metric: result.TransfersMetric, Count: 100}, {Metric: result.SentMetric, Count: 70_000},
	}}
	for _, metric := range []string{
		result.ExecutionMetric, result.FinalityLagMetric, result.WitnessBytesMetric, result.WitnessMakeMetric,
		result.WitnessReceiveMetric, result.WitnessValidationMetric,
	} {
		counts.Histograms = append(counts.Histograms, result.Histogram{
			Metric: metric, Count: 100, Sum: 12, Buckets: []result.Bucket{{Bound: 0.1, Count: 50}, {Bound: 0.2, Count: 40}},
		})
	}
	return counts
}

func TestFigures(t *testing.T) {
	t.Parallel()
	made := figures.Of([]*result.Run{run(0.5), run(0.5)}, 95, 1)
	want := map[v1alpha1.BenchmarkFigure]float64{
		v1alpha1.FigureOfferedPerSecond:                         120,
		v1alpha1.FigureAcceptedPerSecond:                        110,
		v1alpha1.FigureIncludedPerSecond:                        100,
		v1alpha1.FigureExecutedPerSecond:                        90,
		v1alpha1.FigureFailedPerSecond:                          8,
		v1alpha1.FigureExecutedPerSecondSpreadPercent:           0,
		v1alpha1.FigureCompletionSeconds:                        20,
		v1alpha1.FigureHeldPerSecond:                            100,
		v1alpha1.FigureExecutedOfHeldPercent:                    90,
		v1alpha1.FigureClientSuccessPercent:                     25,
		v1alpha1.FigureClientLatencyP50Milliseconds:             700,
		v1alpha1.FigureClientLatencyP99Milliseconds:             1900,
		v1alpha1.FigureClientKneeUsers:                          500,
		v1alpha1.FigureClientExecutedOfBestPercent:              75,
		v1alpha1.FigureBlockTimeMilliseconds:                    250,
		v1alpha1.FigureBlockTimeP50Milliseconds:                 250,
		v1alpha1.FigureBlockTimeP95Milliseconds:                 250,
		v1alpha1.FigureBlockTimeP99Milliseconds:                 250,
		v1alpha1.FigureBlockTimeMaxMilliseconds:                 250,
		v1alpha1.FigureBlockTransfersSwingPercent:               0,
		v1alpha1.FigureMissedChunksPercent:                      12.5,
		v1alpha1.FigureCPUMicrosecondsPerTransfer:               500_000 / 90.0,
		v1alpha1.FigureProducerCPUMicrosecondsPerTransfer:       250_000 / 90.0,
		v1alpha1.FigureChunkValidatorCPUMicrosecondsPerTransfer: 125_000 / 90.0,
		v1alpha1.FigureRPCCPUMicrosecondsPerTransfer:            100_000 / 90.0,
		v1alpha1.FigureArchiveCPUMicrosecondsPerTransfer:        25_000 / 90.0,
		v1alpha1.FigureCPUCores:                                 0.5,
		v1alpha1.FigureMemoryMebibytes:                          20,
		v1alpha1.FigurePeakMemoryMebibytes:                      30,
		v1alpha1.FigureDiskWrittenBytesPerTransfer:              100,
		v1alpha1.FigureHostStolenPercent:                        20,
		v1alpha1.FigureHostWorkMicroseconds:                     300,
		v1alpha1.FigureNetworkSentBytesPerTransfer:              700,
		v1alpha1.FigureFinalityLagMilliseconds:                  120,
		v1alpha1.FigureFinalityLagP50Milliseconds:               100,
		v1alpha1.FigureFinalityLagP95Milliseconds:               200,
		v1alpha1.FigureFinalityLagP99Milliseconds:               200,
		v1alpha1.FigureExecutionMilliseconds:                    120,
		v1alpha1.FigureWitnessKibibytes:                         0.12 / 1024,
		v1alpha1.FigureWitnessMakeMilliseconds:                  120,
		v1alpha1.FigureWitnessReceiveMilliseconds:               120,
		v1alpha1.FigureWitnessValidationMilliseconds:            120,
	}
	for _, figure := range made {
		if math.Abs(figure.Value-want[figure.Name]) > 1e-6*want[figure.Name] {
			t.Errorf("%s is %f, want %f", figure.Name, figure.Value, want[figure.Name])
		}
		delete(want, figure.Name)
		if interval := figure.Interval; interval != nil && (interval.Low > figure.Value || interval.High < figure.Value) {
			t.Errorf("%s is %f, and its interval is %+v", figure.Name, figure.Value, interval)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no %v", want)
	}
}

// Of a fixed count, TPS is the count over the time from the beginning of the load to the
// block with the last of it, wherever between two blocks it began; it is offered at no
// rate, and of runs together the time is the mean of theirs.
func TestFixedCount(t *testing.T) {
	t.Parallel()
	counted := func(beginMs int64) *result.Run {
		made := run(0.5)
		made.OpenLoop, made.Window.BeginMs = nil, beginMs
		return made
	}
	got := map[v1alpha1.BenchmarkFigure]float64{}
	intervals := map[v1alpha1.BenchmarkFigure]*result.Interval{}
	for _, figure := range figures.Of([]*result.Run{counted(10_100)}, 95, 1) {
		got[figure.Name], intervals[figure.Name] = figure.Value, figure.Interval
	}
	if want := 1800 / 19.9; math.Abs(got[v1alpha1.FigureExecutedPerSecond]-want) > 1e-9 {
		t.Errorf("TPS is %f, want %f", got[v1alpha1.FigureExecutedPerSecond], want)
	}
	if seconds := got[v1alpha1.FigureCompletionSeconds]; math.Abs(seconds-19.9) > 1e-9 || intervals[v1alpha1.FigureCompletionSeconds] == nil {
		t.Errorf("the last came after %f s, want 19.9 with an interval", seconds)
	}
	if blockTime := got[v1alpha1.FigureBlockTimeMilliseconds]; blockTime != 250 {
		t.Errorf("the block time is %f, want that of whole blocks", blockTime)
	}
	if rate, known := got[v1alpha1.FigureOfferedPerSecond]; known {
		t.Errorf("it is offered at %f transfers per second, want at no rate", rate)
	}
	for _, figure := range figures.Of([]*result.Run{counted(10_000), counted(20_000)}, 95, 1) {
		if figure.Name == v1alpha1.FigureCompletionSeconds && math.Abs(figure.Value-15) > 1e-9 {
			t.Errorf("the last of 20 s and of 10 s came after %f s, want 15", figure.Value)
		}
	}
	for name, became := range map[string]*result.FixedCount{
		"another load": nil, "no end": {Transfers: 1800, Executed: 1799}, "nothing executed": {Transfers: 1, Failed: 1, LastHeight: 9},
	} {
		made := counted(10_000)
		made.FixedCount = became
		for _, figure := range figures.Of([]*result.Run{made}, 95, 1) {
			if figure.Name == v1alpha1.FigureCompletionSeconds {
				t.Errorf("of %s, the last came after %f s, want it not to be known", name, figure.Value)
			}
		}
	}
}

// Blocks that are full and nearly empty in turn are told from blocks that are all
// as full, and from blocks that become fuller by and by, whatever they hold in the
// mean.
func TestSwing(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		included func(block int) uint64
		want     float64
	}{
		"all as full":        {func(int) uint64 { return 5000 }, 0},
		"full and half full": {func(block int) uint64 { return 5000 / uint64(1+block%2) }, 66.7},
		"full and empty":     {func(block int) uint64 { return 5000 * uint64(block%2) }, 200},
		"fuller by and by":   {func(block int) uint64 { return 5000 + 50*uint64(block) }, 0.6},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := run(0.5)
			for i := range made.Blocks {
				made.Blocks[i].Included = test.included(i)
			}
			got, known := swing(made)
			if !known || math.Abs(got-test.want) > 0.1+0.02*test.want {
				t.Errorf("the swing is %.1f%% (%t), want about %.1f%%", got, known, test.want)
			}
		})
	}
	empty := run(0.5)
	for i := range empty.Blocks {
		empty.Blocks[i].Included = 0
	}
	if got, known := swing(empty); known {
		t.Errorf("empty blocks swing by %.1f%%", got)
	}
}

func swing(run *result.Run) (float64, bool) {
	for _, figure := range figures.Of([]*result.Run{run}, 95, 1) {
		if figure.Name == v1alpha1.FigureBlockTransfersSwingPercent {
			return figure.Value, true
		}
	}
	return 0, false
}

// Every figure of the API has a definition, and the other way round.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	made := figures.Of([]*result.Run{run(0.5), run(0.5)}, 95, 1)
	if got, want := len(figures.All()), len(made); got != want {
		t.Errorf("there are %d definitions and %d figures", got, want)
	}
	for _, figure := range made {
		definition, ok := figures.Define(figure.Name)
		if !ok || definition.Unit != figure.Unit || definition.Title == "" {
			t.Errorf("the definition of %s is %+v (%t)", figure.Name, definition, ok)
		}
	}
	if definition, ok := figures.Define("Luck"); ok {
		t.Errorf("the definition of luck is %+v", definition)
	}
}

// A figure that is not known of one run is not known of all of them.
func TestUnknownFigures(t *testing.T) {
	t.Parallel()
	lacking := run(0.5)
	lacking.Samples[30].CPUSeconds = nil
	lacking.Blocks[90].Failed = nil
	for _, figure := range figures.Of([]*result.Run{run(0.5), lacking}, 95, 1) {
		switch figure.Name {
		case v1alpha1.FigureCPUCores, v1alpha1.FigureCPUMicrosecondsPerTransfer, v1alpha1.FigureFailedPerSecond:
			t.Errorf("%s is %f, want it not to be known", figure.Name, figure.Value)
		default:
		}
	}
	lacking.Search = nil
	for _, figure := range figures.Of([]*result.Run{run(0.5), lacking}, 95, 1) {
		if figure.Name == v1alpha1.FigureHeldPerSecond || figure.Name == v1alpha1.FigureExecutedOfHeldPercent {
			t.Errorf("%s is %f of a run without a search, want it not to be known", figure.Name, figure.Value)
		}
	}
	lacking.OpenLoop = nil
	for _, figure := range figures.Of([]*result.Run{run(0.5), lacking}, 95, 1) {
		if strings.HasPrefix(string(figure.Name), "Client") {
			t.Errorf("%s is %f of a run without clients, want it not to be known", figure.Name, figure.Value)
		}
	}
	stalled := run(0.5)
	stalled.Search, stalled.OpenLoop = nil, nil
	stalled.Blocks = stalled.Blocks[:100]
	if made := figures.Of([]*result.Run{stalled}, 95, 1); len(made) == 0 || made[0].Name == v1alpha1.FigureExecutedPerSecond {
		t.Errorf("the figures of a chain that stood still are %+v, want none of its blocks", made)
	}
}

// lack has nobody tell anything of nodes in a sample.
func lack(sample *result.Sample) {
	sample.Signed, sample.Rejected, sample.CPUSeconds, sample.CPUSecondsByRole = nil, nil, nil, nil
	sample.MemoryBytes, sample.DiskWrittenBytes = nil, nil
	sample.HostBusySeconds, sample.HostStolenSeconds, sample.HostWorkMicroseconds = nil, nil, nil
}

// Counters tell over a sample in the middle that lacks them what they rose by, and no
// figure is another one for it. What was the most may have been just then.
func TestSamplesThatLackSomething(t *testing.T) {
	t.Parallel()
	whole, lacking := run(0.5), run(0.5)
	whole.OpenLoop, whole.FixedCount, lacking.OpenLoop, lacking.FixedCount = nil, nil, nil, nil
	for _, second := range []int{12, 18, 19, 20} {
		// Mean memory stays as it is with what is as far above the mean.
		lack(&lacking.Samples[second])
		lack(&lacking.Samples[40-second])
	}
	// More than usual was executed and used while nobody told.
	for _, made := range []*result.Run{whole, lacking} {
		for i := range made.Samples[19:] {
			if used := made.Samples[19+i].CPUSeconds; used != nil {
				*used += 7
			}
		}
	}
	want := figures.Of([]*result.Run{whole}, 95, 1)
	got := map[v1alpha1.BenchmarkFigure]float64{}
	for _, figure := range figures.Of([]*result.Run{lacking}, 95, 1) {
		got[figure.Name] = figure.Value
	}
	for _, figure := range want {
		value, known := got[figure.Name]
		if isPeak := figure.Name == v1alpha1.FigurePeakMemoryMebibytes; known == isPeak || known && math.Abs(value-figure.Value) > 1e-9 {
			t.Errorf("%s is %f (%t), want %f", figure.Name, value, known, figure.Value)
		}
	}
}

// A figure is not known of a run that does not tell it at both ends, or whose counters
// fell; and nobody can guess how much memory nodes had for long.
func TestSamplesThatLackTooMuch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change   func(samples []result.Sample)
		measured bool
	}{
		"the first lacks it":     {func(samples []result.Sample) { lack(&samples[10]) }, false},
		"the last lacks it":      {func(samples []result.Sample) { lack(&samples[30]) }, false},
		"it fell":                {func(samples []result.Sample) { *samples[15].CPUSeconds = 0; samples[15].MemoryBytes = nil }, false},
		"it fell meanwhile":      {func(samples []result.Sample) { lack(&samples[15]); *samples[16].CPUSeconds = 0 }, false},
		"not for eleven seconds": {func(samples []result.Sample) { lackAll(samples[15:25]) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := run(0.5)
			test.change(made.Samples)
			known := map[v1alpha1.BenchmarkFigure]bool{}
			for _, figure := range figures.Of([]*result.Run{made}, 95, 1) {
				known[figure.Name] = true
			}
			if known[v1alpha1.FigureCPUCores] != test.measured || known[v1alpha1.FigureCPUMicrosecondsPerTransfer] != test.measured {
				t.Errorf("the CPU time is known: %t, want %t", known[v1alpha1.FigureCPUCores], test.measured)
			}
			if test.measured && known[v1alpha1.FigureMemoryMebibytes] {
				t.Error("the memory is known that nobody told for long")
			}
		})
	}
}

func lackAll(samples []result.Sample) {
	for i := range samples {
		lack(&samples[i])
	}
}

// A network has figures of the roles that it has, and of those of whose nodes all told.
func TestCPUByRole(t *testing.T) {
	t.Parallel()
	lacking := run(0.5)
	for i := range lacking.Samples {
		delete(lacking.Samples[i].CPUSecondsByRole, "rpc")
	}
	delete(lacking.Samples[10].CPUSecondsByRole, "archive")
	known := map[v1alpha1.BenchmarkFigure]bool{}
	for _, figure := range figures.Of([]*result.Run{lacking}, 95, 1) {
		known[figure.Name] = true
	}
	for name, want := range map[v1alpha1.BenchmarkFigure]bool{
		v1alpha1.FigureCPUMicrosecondsPerTransfer: true, v1alpha1.FigureProducerCPUMicrosecondsPerTransfer: true,
		v1alpha1.FigureChunkValidatorCPUMicrosecondsPerTransfer: true,
		v1alpha1.FigureRPCCPUMicrosecondsPerTransfer:            false, v1alpha1.FigureArchiveCPUMicrosecondsPerTransfer: false,
	} {
		if known[name] != want {
			t.Errorf("%s is known: %t, want %t", name, known[name], want)
		}
	}
}

// Where no number of users holds, there is no knee; and what blocks do not tell of
// every step, nothing is a share of.
func TestUsersOfWhomNoneHold(t *testing.T) {
	t.Parallel()
	overloaded := run(0.5)
	overloaded.OpenLoop.KneeUsers = 0
	overloaded.OpenLoop.Steps = overloaded.OpenLoop.Steps[1:]
	overloaded.OpenLoop.Steps[0].ExecutedMs.Count, overloaded.OpenLoop.Steps[0].ExecutedPerSecond = 0, nil
	known := map[v1alpha1.BenchmarkFigure]bool{}
	for _, figure := range figures.Of([]*result.Run{overloaded}, 95, 1) {
		known[figure.Name] = true
	}
	for _, name := range []v1alpha1.BenchmarkFigure{
		v1alpha1.FigureClientKneeUsers, v1alpha1.FigureClientExecutedOfBestPercent,
		v1alpha1.FigureClientLatencyP50Milliseconds, v1alpha1.FigureClientLatencyP99Milliseconds,
	} {
		if known[name] {
			t.Errorf("%s is known", name)
		}
	}
	if !known[v1alpha1.FigureClientSuccessPercent] {
		t.Error("the success is not known")
	}
}

// What generators do not sign, pools take from clients; and what those offer is
// known to the fraction, as samples do not tell it.
func TestAccepted(t *testing.T) {
	t.Parallel()
	signed := run(0.5)
	signed.FixedCount = nil
	for i := range signed.Samples {
		signed.Samples[i].Signed = nil
	}
	signed.OpenLoop.Last().OfferedPerSecond = 0.2
	for name, users := range map[string]*result.OpenLoop{"clients": signed.OpenLoop, "nobody": nil} {
		signed.OpenLoop = users
		accepted, offered := 0.0, 0.0
		for _, figure := range figures.Of([]*result.Run{signed}, 95, 1) {
			if figure.Name == v1alpha1.FigureAcceptedPerSecond {
				accepted = figure.Value
			}
			if figure.Name == v1alpha1.FigureOfferedPerSecond {
				offered = figure.Value
			}
		}
		if want := map[string]float64{"clients": 110, "nobody": 0}[name]; accepted != want {
			t.Errorf("of %s, pools accepted %f, want %f", name, accepted, want)
		}
		if want := map[string]float64{"clients": 0.2, "nobody": 120}[name]; offered != want {
			t.Errorf("%s offer %f, want %f", name, offered, want)
		}
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	base := []*result.Run{run(0.5), run(0.51), run(0.49)}
	changed := []*result.Run{run(0.55), run(0.561), run(0.539)}
	cpu, _ := figures.Define(v1alpha1.FigureCPUMicrosecondsPerTransfer)
	change, ok := cpu.Change(base, changed, true, 95, 1)
	if !ok || math.Abs(change.Estimate-10) > 0.1 || change.Low < 9.5 || change.High > 10.5 {
		t.Errorf("the change is %+v (%t), want 10%%", change, ok)
	}
	missed, _ := figures.Define(v1alpha1.FigureMissedChunksPercent)
	if change, ok := missed.Change(base, changed, true, 95, 1); !ok || change.Estimate != 0 || change.Low != 0 || change.High != 0 {
		t.Errorf("the change is %+v (%t), want no percentage points", change, ok)
	}
	changed[1].Samples[15].CPUSeconds = nil
	if change, ok := cpu.Change(base, changed, true, 95, 1); !ok || math.Abs(change.Estimate-10) > 0.1 {
		t.Errorf("without one sample in the middle, the change is %+v (%t), want 10%%", change, ok)
	}
	changed[1].Samples[15].CPUSeconds = ptr.To(0.0)
	if change, ok := cpu.Change(base, changed, true, 95, 1); ok {
		t.Errorf("the change is %+v, want it not to be known", change)
	}
	if change, ok := cpu.Change(nil, base, false, 95, 1); ok {
		t.Errorf("the change from nothing is %+v", change)
	}
	// The result of another program may want it all the same.
	spread, _ := figures.Define(v1alpha1.FigureExecutedPerSecondSpreadPercent)
	if change, ok := spread.Change(base, changed, true, 95, 1); ok {
		t.Errorf("the change of a spread is %+v, and single runs have none", change)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{
		0: "0.000", 0.1234: "0.123", 12.34: "12.3", 1899.96: "1900.0", 123456.7: "123457", -12.34: "-12.3",
	} {
		if got := figures.Number(value); got != want {
			t.Errorf("%v is written %s, want %s", value, got, want)
		}
	}
}
