// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"

	"github.com/shardyard/shardyard/internal/bench"
)

// liveLine sums up a sample in a line. Rates and heights are those of the node
// that knows most of the chain, over its latest finalised blocks.
func liveLine(sample bench.Sample, missedBefore uint64, ready int) string {
	best := sample.Best()
	if best == nil {
		return "no validator answers"
	}
	return fmt.Sprintf("TPS %s | block time %.0f ms | height %s | missed chunks %s | %d of %d validators ready",
		thousands(int64(best.TPS)), best.BlockTimeMs, thousands(best.FinalizedHeight),
		thousands(best.MissedChunks-missedBefore), ready, len(sample.Nodes))
}
