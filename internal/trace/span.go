// SPDX-License-Identifier: Apache-2.0

package trace

import "time"

// NoShard is the shard of what is of a whole block.
const NoShard = -1

// Span is something that a node did for the block of a height.
type Span struct {
	// Name says what, as in the node contract.
	Name string
	// Trace is the trace that it is of.
	Trace ID
	// Height is that of the trace.
	Height uint64
	// Shard is NoShard for what is of a whole block.
	Shard int
	// View is the view of consensus, of spans that have one.
	View uint64
	// Executed is the height of the chunk that is executed, of spans of an execution; 0
	// where none says.
	Executed uint64
	// Node, Region and Network say who recorded it.
	Node, Region, Network string
	// Begin and End are by that node's clock.
	Begin, End time.Time
}
