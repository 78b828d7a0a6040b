// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// figureRow is one figure of everything that is shown.
type figureRow struct {
	Name, Title, Unit string
	Cells             []figureCell
}

// figureCell is one figure of one variant; empty when it is not known.
type figureCell struct {
	Value, Interval string
}

// figureTable has a column for each variant of each result, and a row for each
// figure that one of them has.
func figureTable(results []Named) (columns []string, rows []figureRow) {
	var variants []*result.Variant
	for _, named := range results {
		for i := range named.Result.Variants {
			variant := &named.Result.Variants[i]
			variants = append(variants, variant)
			switch {
			case variant.Name == "":
				columns = append(columns, named.Name)
			case len(results) == 1:
				columns = append(columns, variant.Name)
			default:
				columns = append(columns, named.Name+", "+variant.Name)
			}
		}
	}
	for _, definition := range figures.All() {
		row := figureRow{Name: string(definition.Name), Title: definition.Title, Unit: definition.Unit}
		known := false
		for _, variant := range variants {
			cell := newCell(variant, definition.Name)
			known = known || cell.Value != ""
			row.Cells = append(row.Cells, cell)
		}
		if known {
			rows = append(rows, row)
		}
	}
	return columns, rows
}

func newCell(variant *result.Variant, name v1alpha1.BenchmarkFigure) figureCell {
	figure := variant.FigureOf(name)
	if figure == nil {
		return figureCell{}
	}
	cell := figureCell{Value: figures.Number(figure.Value)}
	if figure.Interval != nil {
		cell.Interval = fmt.Sprintf("[%s to %s]", figures.Number(figure.Interval.Low), figures.Number(figure.Interval.High))
	}
	return cell
}

// changeRow is how one figure changed.
type changeRow struct {
	Figure, Change, Interval, Outcome string
}

func changeRows(comparison *result.Comparison) []changeRow {
	var rows []changeRow
	for i := range comparison.Changes {
		change := &comparison.Changes[i]
		row := changeRow{Figure: string(change.Figure), Outcome: string(change.Outcome)}
		unit := "%"
		if definition, ok := figures.Define(change.Figure); ok && definition.Points {
			unit = " points"
		}
		if change.Percent != nil {
			row.Change = fmt.Sprintf("%+.2f%s", *change.Percent, unit)
		}
		if change.Interval != nil {
			row.Interval = fmt.Sprintf("[%+.2f to %+.2f]", change.Interval.Low, change.Interval.High)
		}
		rows = append(rows, row)
	}
	return rows
}

// phaseRow is what nodes spent on a phase for each transfer.
type phaseRow struct {
	Name, Baseline, Candidate, Change string
}

func phaseRows(phases []result.Phase) []phaseRow {
	rows := make([]phaseRow, 0, len(phases))
	for i := range phases {
		phase := &phases[i]
		row := phaseRow{
			Name: phase.Name, Baseline: figures.Number(phase.BaselineMicroseconds), Candidate: figures.Number(phase.CandidateMicroseconds),
		}
		if phase.BaselineMicroseconds > 0 {
			row.Change = fmt.Sprintf("%+.2f%%", 100*(phase.CandidateMicroseconds/phase.BaselineMicroseconds-1))
		}
		rows = append(rows, row)
	}
	return rows
}

// countRow is what the nodes of each run counted of one kind.
type countRow struct {
	Metric, Kind string
	Counts       []string
}

// countTable has a column for each run whose nodes told what they counted, and a
// row for each kind that one of them has.
func countTable(runs []labelled) (columns []string, rows []countRow) {
	type kind struct{ metric, kind string }
	var counted []*result.Counts
	kinds := map[kind]bool{}
	for _, labelled := range runs {
		counts := labelled.run.Counts
		if counts == nil {
			continue
		}
		columns, counted = append(columns, labelled.label), append(counted, counts)
		for _, counter := range counts.Counters {
			kinds[kind{counter.Metric, counter.Kind}] = true
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(kinds), func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.kind, b.kind))
	}) {
		row := countRow{Metric: of.metric, Kind: of.kind}
		for _, counts := range counted {
			count := ""
			for _, counter := range counts.Counters {
				if counter.Metric == of.metric && counter.Kind == of.kind {
					count = strconv.FormatFloat(math.Round(100*counter.Count)/100, 'f', -1, 64)
				}
			}
			row.Counts = append(row.Counts, count)
		}
		rows = append(rows, row)
	}
	return columns, rows
}
