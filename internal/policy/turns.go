// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// settleTime is how long a node that has come back fetches what it missed: from
// those that would go next.
const settleTime = 10 * time.Second

// turns are what is left of a network that loses one node after the other.
type turns struct {
	// spare is how many producers consensus can do without, and limit how many of
	// them may be away on purpose.
	spare, limit int
	// away are the producers that do not run, absent those that do not take part
	// or have only just begun to, and apart the most nodes that one of the others
	// is not connected to.
	away, absent, apart int
	// taken are the producers that run and are about to go.
	taken int
	// moving is true when a node takes part: the chain does not stand still.
	moving bool
	// missing are, by shard, the producers that are absent or about to go, and
	// broken the shards with a producer that does not run or is about to go.
	missing []int
	broken  []bool

	chunkValidators chunkValidatorTurns
}

func newTurns(observation *Observation) *turns {
	nodes, shards := observation.Nodes, observation.Plan.Shards
	chunkValidators := newChunkValidatorTurns(observation)
	spare := (len(nodes) - chunkValidators.all - 1) / 3
	t := &turns{
		spare:           max(1, spare),
		limit:           max(1, spare/2),
		missing:         make([]int, shards),
		broken:          make([]bool, shards),
		chunkValidators: chunkValidators,
	}
	for i := range nodes {
		node := &nodes[i]
		t.moving = t.moving || node.Ready()
		switch {
		case node.Validator.Seat == nil:
		case node.Ready() && settled(node, observation.Now):
			t.apart = max(t.apart, apart(node, len(nodes)-chunkValidators.away))
		case node.Ready(), node.Running():
			t.absent++
			t.missing[node.Validator.Shard]++
		default:
			t.away++
			t.absent++
			t.missing[node.Validator.Shard]++
			t.broken[node.Validator.Shard] = true
		}
	}
	return t
}

// settled says whether a node that takes part has done so for a while.
func settled(node *Node, now time.Time) bool {
	if node.Unobserved {
		// Nobody tells since when. It is not replaced as long as that is so.
		return true
	}
	condition := podCondition(node.Pod, corev1.PodReady)
	return now.Sub(condition.LastTransitionTime.Time) >= settleTime
}

// apart is how many others of so many nodes a node that takes part is not
// connected to, so that it would not hear of them when those between them go. One that does not
// answer may be connected to nobody.
func apart(node *Node, nodes int) int {
	if node.Status == nil {
		return nodes - 1
	}
	return max(0, nodes-1-node.Status.Peers)
}

// take says whether it is a node's turn to go, and counts it then.
func (t *turns) take(node *Node) bool {
	if node.Validator.Seat == nil {
		return t.chunkValidators.take(node, t.absent+t.taken)
	}
	shard := node.Validator.Shard
	var mayGo bool
	switch {
	case node.Ready():
		mayGo = t.missing[shard] == 0 && t.absent+t.taken < t.limit && t.apart+t.taken < t.spare
	case node.Running() && t.moving:
		// It may vote and serve others all the same, and counts as absent already.
		mayGo = t.missing[shard] == 1 && !t.broken[shard] && t.absent-1+t.taken < t.limit
	case node.Running():
		// When the chain stands still, no node takes part, but all that run are
		// needed for it to go on.
		mayGo = !t.broken[shard] && t.away+t.taken < t.limit
	default:
		return true
	}
	if mayGo {
		t.taken++
		t.missing[shard]++
		t.broken[shard] = true
	}
	return mayGo
}
