// SPDX-License-Identifier: Apache-2.0

// Package trace says what blocks waited for, from the spans that nodes record of
// them. It is pure: spans in, a report out. The spans are those of the node
// contract; all of one height make one trace.
//
// # The critical path of a block
//
// The span block goes from when the block before was final and stored, on the
// node of the leader, to when this one was. Every moment in between is given to
// what the block waited for at that moment, walking back in time:
//
//  1. Begin at the end of block, with the span record_block of the leader.
//  2. Of the spans that the present one can have waited for, which its name
//     says (see causes), take the one that ended last before the present one
//     did: had it ended earlier, so would the present one.
//  3. From there to the end of the present span, what was waited for is the present
//     span. If it began only later, the time until it began is a gap: of Network
//     if the two spans are of different nodes, else of Queue, for something that
//     could have begun on this node and did not yet. The time before a leader
//     began to collect is a gap of Turn: it was not its turn.
//  4. What gather waited for is of earlier blocks: the storing of the one whose chunk
//     is executed, which the span names, and the recording of the execution before,
//     which is of the block before, on the same node, if these heights are traced as
//     well. The walk ends there. Of a gather that names no height, the block before is
//     taken to be the one that is executed, as with an execution lag of 1. What take
//     waited for is the recording of the execution or, with a greater lag, the storing
//     of the block before.
//  5. Go on with the span taken, until the begin of block, or until there is
//     none to take: what is left then is given to the first span taken, as a gap
//     of Queue before it.
//
// So the segments of a path add up to the block's time exactly.
//
// What a span waited for of several is not recorded but inferred: a quorum's last
// vote is taken to be that of the node which was ready last before the quorum was
// there. Clocks of different nodes are compared as they are: what they differ by
// is taken from one segment and given to its neighbour. Consensus makes its votes
// durable before it sends them, and no span says how long that takes: it is part
// of notarise and finalise.
//
// # What a wait was spent on
//
// A span in which a node waits for others is divided by the same walk, from its end
// back to its begin. Each part has a Kind: work of one node, the way between two,
// something arriving, or what the chain waits for by its rules.
//
// # How fast a node is
//
// A path names what one block waited for. Over many heights, the means of a node's
// own executions and stores, of the ways between it and others, and of how late it
// endorses tell it from its peers: of these spans, none but those of endorsements
// waits for another node.
package trace
