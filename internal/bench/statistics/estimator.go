// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Row is one observation of a run: a quantity, and what it is counted by, such
// as the transfers of a block and the time since the block before.
type Row struct {
	Quantity, By float64
}

// Estimator makes a figure of rows, whatever their order; false when there is
// none. It does not change the rows.
type Estimator func(rows []Row) (float64, bool)

// Rate is the sum of all quantities over the sum of what they are counted by.
func Rate(rows []Row) (float64, bool) {
	var quantity, by float64
	for _, row := range rows {
		quantity += row.Quantity
		by += row.By
	}
	if by <= 0 {
		return 0, false
	}
	return quantity / by, true
}

// Quantile makes an estimator of the quantity that a share of the rows does not
// exceed.
func Quantile(share float64) Estimator {
	return func(rows []Row) (float64, bool) {
		if len(rows) == 0 {
			return 0, false
		}
		quantities := make([]float64, len(rows))
		for i, row := range rows {
			quantities[i] = row.Quantity
		}
		slices.Sort(quantities)
		return stat.Quantile(share, stat.Empirical, quantities, nil), true
	}
}

// Max is the largest quantity.
func Max(rows []Row) (float64, bool) {
	if len(rows) == 0 {
		return 0, false
	}
	largest := math.Inf(-1)
	for _, row := range rows {
		largest = max(largest, row.Quantity)
	}
	return largest, true
}

// Spread is how far values are apart, in percent of their median; false for
// fewer than two, and for a median that nothing can be a percentage of.
func Spread(values []float64) (float64, bool) {
	if len(values) < 2 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	median := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	if median <= 0 {
		return 0, false
	}
	return 100 * (sorted[len(sorted)-1] - sorted[0]) / median, true
}
