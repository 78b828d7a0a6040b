// SPDX-License-Identifier: Apache-2.0

package trace

// Cause says why a block has no chunk of a shard, as far as spans tell.
type Cause string

// The causes.
const (
	// NotMade is of a chunk of which no span says that its producer sent it.
	NotMade Cause = "no span says that its producer sent it"
	// SentLate is of one that was sent once the leader did not wait for it any more.
	SentLate Cause = "sent after the leader had ended its wait"
	// EndorsedLate is of one that was sent in time and that too few had endorsed, or the
	// leader had not received, when its wait ended.
	EndorsedLate Cause = "sent in time, not received or endorsed by enough when the leader ended its wait"
	// NotAwaited is of one that was sent, in a block whose leader waited for none: after
	// two proposals in vain a leader does so.
	NotAwaited Cause = "its leader proposed without chunks, or no span says how long it waited"
	// Untold is of one of whose height there are too few spans.
	Untold Cause = "not known: no span says until when its leader waited"
)

// WhyMissed says why the block of a height has no chunk of a shard, by the spans of
// that height.
func WhyMissed(spans []Span, shard int, producer string) Cause {
	proposed, ok := lastOf(spans, func(span Span) bool { return span.Name == "propose" })
	if !ok {
		return Untold
	}
	sent, ok := lastOf(spans, func(span Span) bool {
		return span.Name == "distribute" && span.Shard == shard && span.Node == producer
	})
	if !ok {
		return NotMade
	}
	collected, ok := lastOf(spans, func(span Span) bool {
		return span.Name == "collect" && span.Node == proposed.Node && span.View == proposed.View
	})
	switch {
	case ok && sent.End.After(collected.End), sent.End.After(proposed.Begin):
		return SentLate
	case !ok:
		return NotAwaited
	default:
		return EndorsedLate
	}
}
