// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/openloop"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// usersAxis is what the panels of an open loop count along.
const usersAxis = "users"

// userLines are the lines of the panel of what clients offered and what became of it.
var userLines = []struct {
	label string
	dash  bool
	value func(*result.OpenLoopStep) (float64, bool)
}{
	{"offered", true, func(step *result.OpenLoopStep) (float64, bool) { return step.OfferedPerSecond, true }},
	{"accepted", false, func(step *result.OpenLoopStep) (float64, bool) { return step.AcceptedPerSecond, true }},
	{"executed", false, func(step *result.OpenLoopStep) (float64, bool) {
		if step.ExecutedPerSecond == nil {
			return 0, false
		}
		return *step.ExecutedPerSecond, true
	}},
}

// drawUsers makes the panels over the numbers of users that were tried. One that
// nothing is known for is left out.
func drawUsers(runs []labelled) []Panel {
	rates := Panel{ID: "users", Title: "Offered (dashed), accepted and executed, by users", Unit: "transfers/s", Axis: usersAxis}
	failures := Panel{ID: "user-failures", Title: "Not executed, by class and users", Unit: "% of what was offered", Axis: usersAxis}
	latencies := Panel{ID: "user-latency", Title: "Until a client knows that its transfer is executed, by users", Unit: "ms", Axis: usersAxis}
	for _, labelled := range runs {
		steps := sortedSteps(labelled.run)
		for _, line := range userLines {
			rates.addLine(labelled.label+", "+line.label, line.dash, steps, line.value)
		}
		for _, class := range classesOf(steps) {
			failures.addLine(labelled.label+", "+class, false, steps, func(step *result.OpenLoopStep) (float64, bool) {
				return shareOf(step, class), true
			})
		}
		executed := func(of func(*result.Latency) float64) func(*result.OpenLoopStep) (float64, bool) {
			return func(step *result.OpenLoopStep) (float64, bool) {
				return of(&step.ExecutedMs), step.ExecutedMs.Count > 0
			}
		}
		latencies.addLine(labelled.label+", median", false, steps, executed(func(times *result.Latency) float64 { return times.P50 }))
		latencies.addLine(labelled.label+", 99th percentile", false, steps, executed(func(times *result.Latency) float64 { return times.P99 }))
	}
	var panels []Panel
	for _, panel := range []Panel{rates, failures, latencies} {
		if len(panel.Series) > 0 {
			panels = append(panels, panel)
		}
	}
	return panels
}

// addLine appends a line with a point for each step whose value is known, if there
// is one.
func (p *Panel) addLine(label string, dash bool, steps []*result.OpenLoopStep, value func(*result.OpenLoopStep) (float64, bool)) {
	line := Series{Label: label, Color: len(p.Series), Dash: dash}
	for _, step := range steps {
		if known, ok := value(step); ok {
			line.add(float64(step.Users), known)
		}
	}
	if len(line.X) > 0 {
		p.Series = append(p.Series, line)
	}
}

// sortedSteps are the steps of a run, the fewest users first.
func sortedSteps(run *result.Run) []*result.OpenLoopStep {
	if run.OpenLoop == nil {
		return nil
	}
	steps := make([]*result.OpenLoopStep, 0, len(run.OpenLoop.Steps))
	for i := range run.OpenLoop.Steps {
		steps = append(steps, &run.OpenLoop.Steps[i])
	}
	slices.SortFunc(steps, func(a, b *result.OpenLoopStep) int { return cmp.Compare(a.Users, b.Users) })
	return steps
}

// classesOf are the ways in which transfers of any of the steps failed.
func classesOf(steps []*result.OpenLoopStep) []string {
	var classes []string
	for _, step := range steps {
		for _, failure := range step.Transfers.Failures() {
			if class := failure.Class(); !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
	}
	return classes
}

// shareOf is how many in a hundred transfers of a step failed in a way.
func shareOf(step *result.OpenLoopStep, class string) float64 {
	for _, failure := range step.Transfers.Failures() {
		if failure.Class() == class {
			return 100 * float64(failure.Transfers) / float64(step.Transfers.Offered)
		}
	}
	return 0
}

// userRow is what became of what a number of users sent.
type userRow struct {
	Run, Users, Offered, Accepted, Told, Executed, Success, Median, P99, Outcome, Failures, NoAnswer, InBlocks, Loader string
}

func userRows(runs []labelled) []userRow {
	var rows []userRow
	for _, labelled := range runs {
		for _, step := range sortedSteps(labelled.run) {
			row := newUserRow(step)
			row.Run = labelled.label
			rows = append(rows, row)
		}
	}
	return rows
}

func newUserRow(step *result.OpenLoopStep) userRow {
	transfers := &step.Transfers
	row := userRow{
		Users:    strconv.Itoa(int(step.Users)),
		Offered:  figures.Number(step.OfferedPerSecond),
		Accepted: figures.Number(step.AcceptedPerSecond),
		Told:     figures.Number(step.ToldPerSecond),
		Success:  fmt.Sprintf("%.1f", transfers.SuccessPercent()),
		Outcome:  "holds",
		Failures: openloop.Classes(transfers.Failures()),
		NoAnswer: openloop.Classes(transfers.Unanswered()),
		Loader:   "in time",
	}
	if step.ExecutedPerSecond != nil {
		row.Executed = figures.Number(*step.ExecutedPerSecond)
	}
	if step.ExecutedMs.Count > 0 {
		row.Median, row.P99 = figures.Number(step.ExecutedMs.P50), figures.Number(step.ExecutedMs.P99)
	}
	row.InBlocks = fmt.Sprintf("%d told", transfers.Executed)
	if step.ExecutedInBlocks != nil {
		row.InBlocks = fmt.Sprintf("%d told, %d in blocks", transfers.Executed, *step.ExecutedInBlocks)
	}
	if !step.Holds() {
		row.Outcome = "does not hold"
	}
	switch {
	case !step.Saturation.Saturated:
	case step.Holds():
		row.Loader = "late"
	default:
		row.Loader = "THE LIMIT"
	}
	return row
}

// writeUsers writes a line for each number of users that was tried.
func writeUsers(out io.Writer, runs []labelled) error {
	rows := userRows(runs)
	if len(rows) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "RUN\tUSERS\tOFFERED/S\tACCEPTED/S\tEXECUTED/S\tSUCCESS %\tP50 MS\tP99 MS\tOUTCOME\tLOADER\tNOT EXECUTED")
	for i := range rows {
		row := &rows[i]
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Run, row.Users, row.Offered, row.Accepted,
			orDash(row.Executed), row.Success, orDash(row.Median), orDash(row.P99), row.Outcome, row.Loader, orDash(row.Failures))
	}
	return table.Flush()
}
