// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// What was executed at a time is what the blocks up to then come to, one after the other.
func TestExecutedBy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var blocks []result.Block
		var at int64
		for _, executed := range rapid.SliceOfN(rapid.Uint64Range(0, 1_000_000), 0, 20).Draw(t, "executed") {
			at += rapid.Int64Range(1, 50).Draw(t, "block time")
			blocks = append(blocks, result.Block{TimestampMs: at, Executed: executed})
		}
		executedAt := executedBy(blocks)
		for timeMs := int64(-2); timeMs <= at+2; timeMs++ {
			var want float64
			for i := 1; i < len(blocks) && timeMs > blocks[i-1].TimestampMs; i++ {
				begin, end := blocks[i-1].TimestampMs, blocks[i].TimestampMs
				share := min(1, float64(timeMs-begin)/float64(end-begin))
				want += share * float64(blocks[i].Executed)
			}
			if got := executedAt(timeMs); got != want {
				t.Fatalf("at %d ms %v were executed, want %v", timeMs, got, want)
			}
		}
	})
}
