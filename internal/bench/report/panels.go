// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// Panel is one chart.
type Panel struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Unit  string `json:"unit"`
	// Axis is what is counted along the panel; seconds since the load began, without.
	Axis string `json:"axis,omitempty"`
	// Window are the seconds that were measured; nil when runs differ in them.
	Window []float64 `json:"window,omitempty"`
	// Stacked says that each series lies on the one before: all have the same places.
	Stacked bool     `json:"stacked,omitempty"`
	Series  []Series `json:"series"`
}

// Data is what the page draws.
type Data struct {
	Panels []Panel `json:"panels"`
}

// OverTime are the panels over the seconds since the load began.
func (d *Data) OverTime() []Panel { return d.along("") }

// ByUsers are the panels over numbers of users.
func (d *Data) ByUsers() []Panel { return d.along(usersAxis) }

func (d *Data) along(axis string) []Panel {
	var panels []Panel
	for i := range d.Panels {
		if d.Panels[i].Axis == axis {
			panels = append(panels, d.Panels[i])
		}
	}
	return panels
}

const mebibyte = 1 << 20

// chart is a panel that there may be.
type chart struct {
	id, title, unit string
	line            func(*result.Run, *Series)
	// parts are several lines of a run instead, each with what it is of as its label.
	parts func(*result.Run) []Series
	// wanted is a second line, of what was asked for.
	wanted func(*result.Run, *Series)
	// wantedLabel is what the second line is called, which each run then has; without
	// it, it is the load that is offered to all of them.
	wantedLabel string
	// stack are lines that lie on each other instead, in a panel for each run.
	stack func(*result.Run) []Series
}

// charts are all of them, in the order in which they are shown.
var charts = []chart{
	{
		id: "executed", title: "Executed, and offered (dashed)", unit: "transfers/s",
		line:   bySecond(func(block *result.Block) *uint64 { return &block.Executed }),
		wanted: bySample(func(sample *result.Sample) (float64, bool) { return float64(sample.OfferedPerSecond), true }),
	},
	{
		id: "accepted", title: "Accepted into pools", unit: "transfers/s",
		line: byStep(acceptedRate),
	},
	{
		id: "failed", title: "Failed", unit: "transfers/s",
		// The chunks that the first block's results are of were not recorded.
		line: func(run *result.Run, series *Series) {
			rest := *run
			rest.Blocks = rest.Blocks[min(1, len(rest.Blocks)):]
			bySecond(func(block *result.Block) *uint64 { return block.Failed })(&rest, series)
		},
	},
	{
		id: "failed-reasons", title: "Failed, by reason", unit: "transfers/s",
		stack: failuresOf(result.FailureFailed),
	},
	{
		id: "refused-reasons", title: "Refused by pools, or expired in them, by reason", unit: "transfers/s",
		stack: failuresOf(result.FailureRefused),
	},
	{
		id: "block-time", title: "Block time", unit: "ms",
		line: byBlock(func(before, block *result.Block) float64 { return float64(block.TimestampMs - before.TimestampMs) }),
	},
	{
		id: "flush-time", title: "Time that disks of the machine take for a flush, in the mean", unit: "ms",
		line: byStep(func(before, sample *result.Sample, _ float64) (float64, bool) {
			flushes, counted := rise(before.HostDiskFlushes, sample.HostDiskFlushes)
			took, timed := rise(before.HostDiskFlushSeconds, sample.HostDiskFlushSeconds)
			if !counted || !timed || flushes == 0 {
				return 0, false
			}
			return 1000 * took / flushes, true
		}),
	},
	{
		id: "flushes", title: "Flushes of the machine's disks", unit: "1/s",
		line: byStep(func(before, sample *result.Sample, seconds float64) (float64, bool) {
			flushes, known := rise(before.HostDiskFlushes, sample.HostDiskFlushes)
			return flushes / seconds, known
		}),
	},
	{
		id: "block-transfers", title: "Transfers in each block", unit: "transfers",
		line: byBlock(func(_, block *result.Block) float64 { return float64(block.Included) }),
	},
	{
		id: "missed", title: "Chunks that each block misses", unit: "chunks",
		line: byBlock(func(_, block *result.Block) float64 { return float64(block.MissedChunks) }),
	},
	{
		id: "pool", title: "Waiting in pools", unit: "transfers",
		line: bySample(func(sample *result.Sample) (float64, bool) { return valueOf(sample.Pool, 1) }),
	},
	{
		id: "control", title: "Error of the controller: below 0 the chain carries more", unit: "",
		line: func(run *result.Run, series *Series) {
			// A search follows no error.
			if run.Search == nil {
				bySample(controlError)(run, series)
			}
		},
	},
	{
		id: "search", title: "Highest rate that holds as far as known, and lowest that does not (dashed)", unit: "transfers/s",
		line: byStepOfSearch(true), wanted: byStepOfSearch(false), wantedLabel: "does not hold",
	},
	{
		id: "unsigned", title: "Due and not signed: no room in pools, too late, or used up", unit: "transfers/s",
		line: byStep(unsignedRate),
	},
	{
		id: "cpu", title: "CPU of all nodes", unit: "cores",
		line: byStep(func(before, sample *result.Sample, seconds float64) (float64, bool) {
			used, known := rise(before.CPUSeconds, sample.CPUSeconds)
			return used / seconds, known
		}),
	},
	{
		id: "cpu-roles", title: "CPU of all nodes of a role", unit: "cores",
		parts: cpuOfRoles,
	},
	{
		id: "disk", title: "Written to disk by all nodes", unit: "MiB/s",
		line: byStep(func(before, sample *result.Sample, seconds float64) (float64, bool) {
			written, known := rise(before.DiskWrittenBytes, sample.DiskWrittenBytes)
			return written / mebibyte / seconds, known
		}),
	},
	{
		id: "memory", title: "Memory of all nodes, without mapped files", unit: "MiB",
		line: bySample(func(sample *result.Sample) (float64, bool) { return valueOf(sample.MemoryBytes, mebibyte) }),
	},
	{
		id: "stolen", title: "Processor time stolen by a hypervisor", unit: "cores",
		line: byStep(func(before, sample *result.Sample, seconds float64) (float64, bool) {
			stolen, known := rise(before.HostStolenSeconds, sample.HostStolenSeconds)
			return stolen / seconds, known
		}),
	},
	{
		id: "work", title: "Processor time of a fixed piece of work", unit: "µs",
		line: bySample(func(sample *result.Sample) (float64, bool) {
			if sample.HostWorkMicroseconds == nil {
				return 0, false
			}
			return *sample.HostWorkMicroseconds, true
		}),
	},
}

func controlError(sample *result.Sample) (float64, bool) {
	if sample.Control == nil {
		return 0, false
	}
	return sample.Control.Error, true
}

func acceptedRate(before, sample *result.Sample, seconds float64) (float64, bool) {
	signed, known := rise(before.Signed, sample.Signed)
	if !known {
		return 0, false
	}
	rejected, known := rise(before.Rejected, sample.Rejected)
	return (signed - rejected) / seconds, known
}

func unsignedRate(before, sample *result.Sample, seconds float64) (float64, bool) {
	heldBack, known := rise(before.HeldBack, sample.HeldBack)
	if !known {
		return 0, false
	}
	overdue, known := rise(before.Overdue, sample.Overdue)
	// Records of before do not have it, and had nothing that could be used up.
	exhausted, _ := rise(before.Exhausted, sample.Exhausted)
	return (heldBack + overdue + exhausted) / seconds, known
}

func valueOf(value *uint64, unit float64) (float64, bool) {
	if value == nil {
		return 0, false
	}
	return float64(*value) / unit, true
}

// labelled is a run and what it is called.
type labelled struct {
	label string
	run   *result.Run
	// color is the same for all runs of a variant, unless there is only one.
	color int
	// offered is what the line of the offered load is called; empty for no line.
	offered string
}

// draw makes the panels of runs. One that nothing is known for is left out.
func draw(runs []labelled) Data {
	data := Data{Panels: []Panel{}}
	for i := range charts {
		if charts[i].stack != nil {
			data.Panels = append(data.Panels, charts[i].drawStacks(runs)...)
			continue
		}
		if panel := charts[i].draw(runs); len(panel.Series) > 0 {
			data.Panels = append(data.Panels, panel)
		}
	}
	data.Panels = append(data.Panels, drawUsers(runs)...)
	return data
}

// draw makes the panel of a chart, with no series when nothing is known for it.
func (c *chart) draw(runs []labelled) Panel {
	panel := Panel{ID: c.id, Title: c.title, Unit: c.unit, Window: commonWindow(runs)}
	for _, run := range runs {
		if c.parts != nil {
			panel.addParts(run.label, c.parts(run.run))
			continue
		}
		measured := Series{Label: run.label, Color: run.color}
		c.line(run.run, &measured)
		if len(measured.X) > 0 {
			panel.Series = append(panel.Series, measured)
		}
	}
	if len(panel.Series) == 0 || c.wanted == nil {
		return panel
	}
	for _, run := range runs {
		wanted := Series{Label: run.offered, Color: run.color, Dash: true}
		if c.wantedLabel != "" {
			wanted.Label = run.label + ", " + c.wantedLabel
		}
		if c.wanted(run.run, &wanted); wanted.Label != "" && len(wanted.X) > 0 {
			panel.Series = append(panel.Series, wanted)
		}
	}
	return panel
}

// drawStacks makes a panel of each run that has any lines: stacks of several runs in one
// would hide each other.
func (c *chart) drawStacks(runs []labelled) []Panel {
	var panels []Panel
	for i, run := range runs {
		panel := Panel{
			ID: fmt.Sprintf("%s-%d", c.id, i), Title: c.title, Unit: c.unit, Window: commonWindow(runs[i : i+1]), Stacked: true,
			Series: c.stack(run.run),
		}
		if len(runs) > 1 {
			panel.Title += ", " + run.label
		}
		for j := range panel.Series {
			panel.Series[j].Color = j
		}
		if len(panel.Series) > 0 {
			panels = append(panels, panel)
		}
	}
	return panels
}

// addParts appends several lines of one run.
func (p *Panel) addParts(label string, parts []Series) {
	for _, part := range parts {
		part.Label, part.Color = label+", "+part.Label, len(p.Series)
		p.Series = append(p.Series, part)
	}
}

// sameWindowSeconds is how far apart the measured times of runs may begin and end that are the
// same: each begins with a sample, and is told of a little later.
const sameWindowSeconds = 2

// commonWindow is the time that is measured of all runs, if it is about the same.
func commonWindow(runs []labelled) []float64 {
	var window []float64
	for i, labelled := range runs {
		run := labelled.run
		begin, end := secondsOf(run, run.Window.BeginMs), secondsOf(run, run.Window.EndMs)
		if i == 0 {
			window = []float64{begin, end}
			continue
		}
		if math.Abs(window[0]-begin) > sameWindowSeconds || math.Abs(window[1]-end) > sameWindowSeconds {
			return nil
		}
		window = []float64{max(window[0], begin), min(window[1], end)}
	}
	return window
}
