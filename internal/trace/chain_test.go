// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

// chainSpan is one of a height of a chain.
func chainSpan(chain byte, name string, height uint64, begin time.Duration) trace.Span {
	at := time.Unix(1_000, 0).Add(begin)
	return trace.Span{
		Name: name, Trace: trace.ID{chain, byte(height >> 8), byte(height)}, Height: height, Shard: trace.NoShard,
		Node: "n0", Begin: at, End: at.Add(100 * time.Millisecond),
	}
}

// chainOf makes a block each 200 ms: those of some heights are traced.
func chainOf(chain byte, begin time.Duration, heights ...uint64) (spans []trace.Span) {
	for _, height := range heights {
		at := begin + time.Duration(height)*200*time.Millisecond
		spans = append(spans, chainSpan(chain, "block", height, at), chainSpan(chain, "propose", height, at+10*time.Millisecond))
	}
	return spans
}

// withoutProposals are of a chain whose leaders' spans were dropped.
func withoutProposals(spans []trace.Span) []trace.Span {
	return slices.DeleteFunc(spans, func(span trace.Span) bool { return span.Name == "propose" })
}

func TestNewestChain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spans []trace.Span
		// want are the chain and the height of each trace that is left.
		want  map[uint64]byte
		older int
	}{
		"no spans":  {nil, map[uint64]byte{}, 0},
		"one chain": {chainOf(1, 0, 1, 2, 3), map[uint64]byte{1: 1, 2: 1, 3: 1}, 0},
		"the one before was higher": {
			slices.Concat(chainOf(2, time.Minute, 1, 2), chainOf(1, 0, 1, 2, 3, 4)), map[uint64]byte{1: 2, 2: 2}, 4,
		},
		"samples without a height in common": {
			slices.Concat(chainOf(1, 0, 4, 17, 90), chainOf(2, time.Minute, 11, 60)), map[uint64]byte{11: 2, 60: 2}, 3,
		},
		"three chains": {
			slices.Concat(chainOf(1, 0, 5, 6), chainOf(2, time.Minute, 5, 6), chainOf(3, 2*time.Minute, 4)), map[uint64]byte{4: 3}, 4,
		},
		"the newest one proposes and has no block": {
			slices.Concat(chainOf(1, 0, 1, 2, 3), []trace.Span{chainSpan(2, "propose", 1, time.Minute)}), map[uint64]byte{1: 2}, 3,
		},
		"no proposals: as far as heights are in both": {
			withoutProposals(slices.Concat(chainOf(1, 0, 1, 2, 3), chainOf(2, time.Minute, 1, 2))), map[uint64]byte{1: 2, 2: 2, 3: 1}, 2,
		},
		"a node that is behind": {
			slices.Concat(chainOf(1, 0, 2, 3), []trace.Span{chainSpan(1, "record_block", 1, time.Minute)}),
			map[uint64]byte{1: 1, 2: 1, 3: 1},
			0,
		},
		"a leader's clock is late": {
			slices.Concat(chainOf(1, 0, 1, 2), chainOf(1, -500*time.Millisecond, 3), chainOf(1, 0, 4)),
			map[uint64]byte{1: 1, 2: 1, 3: 1, 4: 1},
			0,
		},
		"a height is proposed again": {
			slices.Concat(chainOf(1, 0, 1, 2), []trace.Span{chainSpan(1, "propose", 1, time.Minute)}), map[uint64]byte{1: 1, 2: 1}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newest, older := trace.NewestChain(test.spans)
			if older != test.older {
				t.Errorf("%d traces are left out, want %d", older, test.older)
			}
			got := map[uint64]byte{}
			for _, span := range newest {
				if other, ok := got[span.Height]; ok && other != span.Trace[0] {
					t.Errorf("height %d is of two chains", span.Height)
				}
				got[span.Height] = span.Trace[0]
			}
			if len(got) != len(test.want) {
				t.Errorf("the chains of heights are %v, want %v", got, test.want)
			}
			for height, chain := range test.want {
				if got[height] != chain {
					t.Errorf("height %d is of chain %d, want %d", height, got[height], chain)
				}
			}
		})
	}
}
