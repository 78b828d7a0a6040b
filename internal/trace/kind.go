// SPDX-License-Identifier: Apache-2.0

package trace

// Kind says whether a node worked in a time that something waited for, or whether
// it passed in between nodes.
type Kind string

// The kinds.
const (
	// Work is of one node: what it did, and what could have begun there and had not.
	Work Kind = "work"
	// Way is between the end of what one node did and when another one went on from it.
	Way Kind = "way"
	// Arrival is from when a node heard of something until it had it, checked and, of
	// a body, durable: how much of that is the way there, no span says.
	Arrival Kind = "arrival"
	// Rule is what the chain waits for by its rules, however fast its nodes are.
	Rule Kind = "rule"
)

// arrivals are the spans in which something arrives.
var arrivals = map[string]bool{"receive_body": true, "receive_part": true, "witness_receive": true}

// waits are the spans in which a node waits for others, wholly or in part.
var waits = map[string]bool{
	"receive_body": true, "receive_part": true, "witness_receive": true, "compare": true,
	"endorsed": true, "collect": true, "verify": true, "notarise": true, "finalise": true,
}

// Kind is that of what a segment is of.
func (s Segment) Kind() Kind {
	switch {
	case s.Phase == Pacing || s.Phase == Turn:
		return Rule
	case s.Phase == Network:
		return Way
	case s.Phase != Queue && arrivals[s.Span]:
		return Arrival
	case s.FromNode != "":
		return Way
	default:
		return Work
	}
}

// waitedFor is what a span of a height was spent on: what it waited for since it
// began, on its own node and on others. It is nil for a span that does not wait.
func waitedFor(span Span, spans []Span) []Segment {
	if !waits[span.Name] {
		return nil
	}
	return pathTo(span, spans, nil, span.Begin, span.End)
}
