// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/statistics"
)

// Change is how much a figure of changed runs is above that of base runs: in
// percent of it, or in percentage points of figures that are percentages. It is
// false when it is not known, and of a figure that no single run has.
func (d *Definition) Change(base, changed []*result.Run, paired bool, confidencePercent int32, seed uint64) (statistics.Interval, bool) {
	if d.rows == nil {
		return statistics.Interval{}, false
	}
	before, after := d.rowsOf(base), d.rowsOf(changed)
	if len(before) == 0 || len(after) == 0 || d.unknown(before) || d.unknown(after) {
		return statistics.Interval{}, false
	}
	if d.Points {
		return bootstrap(confidencePercent, seed).Difference(before, after, paired, d.estimate)
	}
	ratio, ok := bootstrap(confidencePercent, seed).Ratio(before, after, paired, d.estimate)
	return statistics.Interval{
		Estimate: 100 * (ratio.Estimate - 1),
		Low:      100 * (ratio.Low - 1),
		High:     100 * (ratio.High - 1),
	}, ok
}
