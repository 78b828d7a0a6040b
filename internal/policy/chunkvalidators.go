// SPDX-License-Identifier: Apache-2.0

package policy

// chunkValidatorTurns are what is left of the chunk validators while one after
// the other goes.
type chunkValidatorTurns struct {
	// all are the chunk validators, away those that do not run, and absent those
	// that do not take part or have only just begun to.
	all, away, absent int
	// spare is how many validators, producers included, may be away for chunks
	// to be endorsed.
	spare int
	// taken is true when one that runs is about to go.
	taken bool
}

func newChunkValidatorTurns(observation *Observation) chunkValidatorTurns {
	t := chunkValidatorTurns{spare: max(1, (len(observation.Nodes)-1)/3)}
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if node.Validator.Seat != nil {
			continue
		}
		t.all++
		switch {
		case node.Ready() && settled(node, observation.Now):
		case node.Ready(), node.Running():
			t.absent++
		default:
			t.away++
			t.absent++
		}
	}
	return t
}

// take says whether it is a chunk validator's turn to go, and counts it then.
// Consensus and shards do without any, so they go one by one whatever state the
// chain is in. Only their endorsements are missed: one that takes part stays
// while so many producers are missing that chunks would lack endorsements.
func (t *chunkValidatorTurns) take(node *Node, missingProducers int) bool {
	var mayGo bool
	switch {
	case node.Ready():
		mayGo = !t.taken && t.absent == 0 && missingProducers < t.spare
	case node.Running():
		mayGo = !t.taken && t.away == 0
	default:
		return true
	}
	t.taken = t.taken || mayGo
	return mayGo
}
