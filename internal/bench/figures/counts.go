// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"math"
	"slices"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/statistics"
)

// perTransfer makes one row of a run: what a counter of all nodes rose by, and the
// transfers that they executed meanwhile.
func perTransfer(metric string) func(*result.Run) []statistics.Row {
	return func(run *result.Run) []statistics.Row {
		count, known := run.Counts.Counter(metric)
		transfers, executed := run.Counts.Counter(result.TransfersMetric)
		if !known || !executed {
			return nil
		}
		return []statistics.Row{{Quantity: count, By: transfers}}
	}
}

// means makes one row of a run: what observations of all nodes add up to, in a
// unit of the figure, and how many there are.
func means(metric string, scale float64) func(*result.Run) []statistics.Row {
	return func(run *result.Run) []statistics.Row {
		observed := run.Counts.Histogram(metric)
		if observed == nil {
			return nil
		}
		return []statistics.Row{{Quantity: observed.Sum * scale, By: observed.Count}}
	}
}

// buckets makes a row of each bucket: its bound, and how many observations are in
// it. Those above the last bound are in one without.
func buckets(metric string, scale float64) func(*result.Run) []statistics.Row {
	return func(run *result.Run) []statistics.Row {
		observed := run.Counts.Histogram(metric)
		if observed == nil {
			return nil
		}
		rows, above := make([]statistics.Row, 0, len(observed.Buckets)+1), observed.Count
		for _, bucket := range observed.Buckets {
			rows = append(rows, statistics.Row{Quantity: bucket.Bound * scale, By: bucket.Count})
			above -= bucket.Count
		}
		return append(rows, statistics.Row{Quantity: math.Inf(1), By: above})
	}
}

// bucketQuantile estimates what a share of the observations does not exceed, as if
// those of a bucket lay evenly between its bounds. Of those above the last bound, it
// is that bound.
func bucketQuantile(share float64) statistics.Estimator {
	return func(rows []statistics.Row) (float64, bool) {
		sorted := slices.SortedFunc(slices.Values(rows), func(a, b statistics.Row) int { return cmp.Compare(a.Quantity, b.Quantity) })
		var all float64
		for _, row := range sorted {
			all += row.By
		}
		if all <= 0 {
			return 0, false
		}
		wanted, below, bound := share*all, 0.0, 0.0
		for i := 0; i < len(sorted); {
			upper, within := sorted[i].Quantity, 0.0
			// The same bucket of several runs.
			for ; i < len(sorted) && sorted[i].Quantity == upper; i++ {
				within += sorted[i].By
			}
			if within > 0 && below+within >= wanted && !math.IsInf(upper, 0) {
				return bound + (upper-bound)*(wanted-below)/within, true
			}
			if below += within; !math.IsInf(upper, 0) {
				bound = upper
			}
		}
		return bound, true
	}
}
