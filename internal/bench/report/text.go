// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// WriteText writes the figures and the verdict of a result for people.
func WriteText(out io.Writer, made *result.Result) error {
	if err := WriteFigures(out, []Named{{Name: made.Benchmark.Name, Result: made}}); err != nil {
		return err
	}
	if err := writeUsers(out, labelRuns([]Named{{Name: made.Benchmark.Name, Result: made}})); err != nil {
		return err
	}
	for _, setting := range made.NotApplied {
		_, _ = fmt.Fprintf(out, "note: %s\n", setting)
	}
	for i := range made.Runs {
		for _, note := range made.Runs[i].Notes {
			_, _ = fmt.Fprintf(out, "note: %s: %s\n", labelOf(&made.Runs[i]), note)
		}
	}
	if made.Comparison != nil {
		for _, note := range made.Comparison.Notes {
			_, _ = fmt.Fprintf(out, "note: %s\n", note)
		}
	}
	_, err := fmt.Fprintf(out, "%s: %s\n", made.Verdict.Outcome, strings.Join(made.Verdict.Words, "\n  "))
	return err
}

// WriteFigures writes the figures of results beside each other.
func WriteFigures(out io.Writer, results []Named) error {
	columns, rows := figureTable(results)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintf(table, "FIGURE\t%s\tUNIT\n", strings.Join(columns, "\t"))
	for _, row := range rows {
		_, _ = fmt.Fprint(table, row.Name)
		for _, cell := range row.Cells {
			_, _ = fmt.Fprintf(table, "\t%s", strings.TrimSpace(cell.Value+" "+cell.Interval))
		}
		_, _ = fmt.Fprintf(table, "\t%s\n", row.Unit)
	}
	return table.Flush()
}

// WriteComparisonText writes how a result compares with another.
func WriteComparisonText(out io.Writer, comparison *result.Comparison) {
	for i := range comparison.Changes {
		_, _ = fmt.Fprintf(out, "%s: %s\n", comparison.Changes[i].Outcome, comparison.Changes[i].Words)
	}
	for _, note := range comparison.Notes {
		_, _ = fmt.Fprintf(out, "note: %s\n", note)
	}
}

// historyFigures are what a history shows of each result.
var historyFigures = []v1alpha1.BenchmarkFigure{
	v1alpha1.FigureExecutedPerSecond, v1alpha1.FigureBlockTimeMilliseconds, v1alpha1.FigureBlockTimeP99Milliseconds,
	v1alpha1.FigureMissedChunksPercent, v1alpha1.FigureCPUMicrosecondsPerTransfer, v1alpha1.FigureHostStolenPercent,
	v1alpha1.FigureHostWorkMicroseconds,
}

// WriteHistory writes a line for each result.
func WriteHistory(out io.Writer, results []Named) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	names := make([]string, 0, len(historyFigures))
	for _, name := range historyFigures {
		names = append(names, string(name))
	}
	_, _ = fmt.Fprintf(table, "STARTED\tBENCHMARK\tVARIANT\tVERDICT\t%s\tARTIFACT\n", strings.Join(names, "\t"))
	for _, named := range results {
		for i := range named.Result.Variants {
			variant := &named.Result.Variants[i]
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s", named.Result.StartedAt.Format(time.DateTime), named.Result.Benchmark.Name,
				orDash(variant.Name), named.Result.Verdict.Outcome)
			for _, name := range historyFigures {
				_, _ = fmt.Fprintf(table, "\t%s", orDash(newCell(variant, name).Value))
			}
			_, _ = fmt.Fprintf(table, "\t%s\n", named.Name)
		}
	}
	return table.Flush()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
