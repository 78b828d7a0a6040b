// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/statistics"
)

// Of makes the figures of the runs of one variant, those that are known.
func Of(runs []*result.Run, confidencePercent int32, seed uint64) []result.Figure {
	var made []result.Figure
	for i := range definitions {
		if figure, ok := definitions[i].of(runs, confidencePercent, seed); ok {
			made = append(made, figure)
		}
		// The spread is shown with what it is the spread of.
		if definitions[i].Name == v1alpha1.FigureExecutedPerSecond && len(made) > 0 {
			if figure, ok := spreadOf(made[len(made)-1].Runs); ok {
				made = append(made, figure)
			}
		}
	}
	return made
}

func (d *Definition) of(runs []*result.Run, confidencePercent int32, seed uint64) (result.Figure, bool) {
	rows := d.rowsOf(runs)
	if len(rows) == 0 || d.unknown(rows) {
		return result.Figure{}, false
	}
	figure := result.Figure{Name: d.Name, Unit: d.Unit}
	var all []statistics.Row
	for _, rows := range rows {
		value, _ := d.estimate(rows)
		figure.Runs = append(figure.Runs, value)
		all = append(all, rows...)
	}
	figure.Value, _ = d.estimate(all)
	if d.single {
		return figure, true
	}
	if estimated, ok := bootstrap(confidencePercent, seed).Single(rows, d.estimate); ok {
		// No figure is less than nothing, however unsure it is.
		figure.Interval = &result.Interval{Low: max(0, estimated.Low), High: estimated.High, ConfidencePercent: confidencePercent}
	}
	return figure, true
}

// unknown says that a run does not have the figure: that of the others is not
// the figure of all.
func (d *Definition) unknown(rows [][]statistics.Row) bool {
	for _, rows := range rows {
		if _, ok := d.estimate(rows); !ok {
			return true
		}
	}
	return false
}

func (d *Definition) rowsOf(runs []*result.Run) [][]statistics.Row {
	rows := make([][]statistics.Row, len(runs))
	for i, run := range runs {
		rows[i] = d.rows(run)
	}
	return rows
}

func bootstrap(confidencePercent int32, seed uint64) statistics.Bootstrap {
	return statistics.Bootstrap{Seed: seed, Confidence: float64(confidencePercent) / 100}
}

func spreadOf(runs []float64) (result.Figure, bool) {
	value, ok := statistics.Spread(runs)
	return result.Figure{Name: spread.Name, Unit: spread.Unit, Value: value}, ok
}
