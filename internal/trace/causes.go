// SPDX-License-Identifier: Apache-2.0

package trace

// Phase is a kind of work or of waiting.
type Phase string

// The phases.
const (
	// Pacing is waiting for the earliest time that a block may have.
	Pacing Phase = "pacing"
	// Turn is waiting for the leader's turn to begin.
	Turn Phase = "turn"
	// Production is making a chunk.
	Production Phase = "production"
	// Execution is executing the chunk before.
	Execution Phase = "execution"
	// Persistence is making something durable.
	Persistence Phase = "persistence"
	// Witness is making and moving a state witness.
	Witness Phase = "witness"
	// Validation is a committee member's check.
	Validation Phase = "validation"
	// Availability is receiving and keeping bodies and parts of them.
	Availability Phase = "availability"
	// Leading is a leader's own work.
	Leading Phase = "leading"
	// Consensus is judging blocks and voting.
	Consensus Phase = "consensus"
	// Network is a gap between what two nodes did.
	Network Phase = "network"
	// Queue is a gap between what one node did.
	Queue Phase = "queue"
)

// kind is what is known of the spans of a name.
type kind struct {
	phase  Phase
	causes []cause
	// before are those that are spans of the block before, and executed those that are
	// spans of the block whose chunk is executed.
	before, executed []cause
}

// cause is what a span can have waited for.
type cause struct {
	name  string
	where where
	// streams says that others go on from it before it ends.
	streams bool
}

// where says which spans of a name are meant.
type where int

const (
	// onNode are those of the same node, of any shard.
	onNode where = iota
	// ofChunkOnNode are those of the same node and shard.
	ofChunkOnNode
	// ofChunk are those of any node, of the same shard.
	ofChunk
	// ofView are those of any node, of the same view.
	ofView
)

// kinds are the spans of the node contract. None waits for itself, directly or
// over others: every path ends.
var kinds = map[string]kind{
	// block and chunk are not on paths: they are what paths are of.
	"block": {},
	"chunk": {},

	"gather": {
		phase:  Execution,
		before: []cause{{name: "record", where: ofChunkOnNode}}, executed: []cause{{name: "record_block", where: onNode}},
	},
	"execute": {phase: Execution, causes: []cause{{name: "gather", where: ofChunkOnNode}}},
	"record":  {phase: Persistence, causes: []cause{{name: "execute", where: ofChunkOnNode}}},

	"take": {
		phase: Production, causes: []cause{{name: "record", where: ofChunkOnNode}},
		// With an execution lag above 1, the execution may be over by then.
		before: []cause{{name: "record_block", where: onNode}},
	},
	"divide":        {phase: Production, causes: []cause{{name: "take", where: ofChunkOnNode}}},
	"record_header": {phase: Persistence, causes: []cause{{name: "divide", where: ofChunkOnNode}}},
	"record_body":   {phase: Persistence, causes: []cause{{name: "record_header", where: ofChunkOnNode}}},
	"distribute":    {phase: Production, causes: []cause{{name: "record_body", where: ofChunkOnNode}}},

	"witness_make":       {phase: Witness, causes: []cause{{name: "record_header", where: ofChunkOnNode}}},
	"witness_distribute": {phase: Witness, causes: []cause{{name: "witness_make", where: ofChunkOnNode}}},
	"witness_receive":    {phase: Witness, causes: []cause{{name: "witness_distribute", where: ofChunk, streams: true}}},

	"receive_body": {phase: Availability, causes: []cause{{name: "distribute", where: ofChunk, streams: true}}},
	"receive_part": {phase: Availability, causes: []cause{{name: "distribute", where: ofChunk, streams: true}}},

	"validate": {phase: Validation, causes: []cause{
		{name: "witness_receive", where: ofChunkOnNode},
		{name: "distribute", where: ofChunk, streams: true},
	}},
	"compare": {phase: Validation, causes: []cause{
		{name: "receive_body", where: ofChunkOnNode},
		{name: "record", where: ofChunkOnNode},
		{name: "distribute", where: ofChunk, streams: true},
	}},
	"endorse": {phase: Validation, causes: []cause{
		{name: "validate", where: ofChunkOnNode},
		{name: "compare", where: ofChunkOnNode},
	}},

	"endorsed": {phase: Leading, causes: []cause{
		{name: "endorse", where: ofChunk},
		{name: "receive_body", where: ofChunkOnNode},
		{name: "receive_part", where: ofChunkOnNode},
	}},
	"collect": {phase: Leading, causes: []cause{{name: "endorsed", where: onNode}}},
	"pace":    {phase: Pacing, causes: []cause{{name: "collect", where: onNode}}},
	"propose": {phase: Leading, causes: []cause{
		{name: "pace", where: onNode},
		{name: "collect", where: onNode},
		{name: "record", where: onNode},
	}},

	"verify": {phase: Consensus, causes: []cause{
		{name: "propose", where: ofView},
		{name: "receive_body", where: onNode},
		{name: "receive_part", where: onNode},
		{name: "record", where: onNode},
	}},
	"notarise": {phase: Consensus, causes: []cause{
		{name: "verify", where: ofView},
		{name: "propose", where: ofView},
	}},
	"finalise":     {phase: Consensus, causes: []cause{{name: "notarise", where: ofView}}},
	"record_block": {phase: Persistence, causes: []cause{{name: "finalise", where: onNode}}},
}

// Names are the names of all spans that are known, in no order.
func Names() []string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	return names
}
