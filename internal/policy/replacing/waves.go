// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"fmt"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/topology"
)

// turns are what is left of a network that loses one node after the other.
type turns struct {
	observation *observed.Network
	best        *chain.Status
	// durable is true where nodes keep what they have on a disk of their own, and
	// single where shards have one producer.
	durable, single bool

	// spare is how many producers consensus can do without, and limit how many of
	// them may be away on purpose.
	spare, limit int
	// away are the producers that do not run, absent those that are not back, and
	// apart the most nodes that one of the others is not connected to.
	away, absent, apart int
	// taken are the producers that run and are about to go, and going says of every
	// node whether it is.
	taken int
	going []bool
	// moving is true when a node takes part: the chain does not stand still.
	moving bool
	// missing are, by shard, the producers that are absent or about to go, and
	// broken those that do not run or are about to go.
	missing, broken []int

	chunkValidators chunkValidatorTurns
	rpcNodes        roleTurns
	archives        roleTurns
}

func newTurns(observation *observed.Network) *turns {
	nodes, shards, spec := observation.Nodes, observation.Plan.Shards, &observation.Network.Spec
	chunkValidators, rpcNodes := newChunkValidatorTurns(observation), newRoleTurns(observation, topology.RoleRPC)
	archives := newRoleTurns(observation, topology.RoleArchive)
	spare := (len(nodes) - chunkValidators.all - rpcNodes.all - archives.all - 1) / 3
	t := &turns{
		observation:     observation,
		best:            observation.Best(),
		durable:         spec.Volume != nil,
		single:          spec.ProducersPerShard == 1,
		spare:           max(1, spare),
		limit:           max(1, spare/2),
		going:           make([]bool, len(nodes)),
		missing:         make([]int, shards),
		broken:          make([]int, shards),
		chunkValidators: chunkValidators,
		rpcNodes:        rpcNodes,
		archives:        archives,
	}
	if most := spec.Update.MaxUnavailable; most != nil {
		t.limit = min(int(*most), t.spare)
	}
	for i := range nodes {
		node := &nodes[i]
		t.moving = t.moving || node.Ready()
		if node.Validator.Seat == nil {
			continue
		}
		absent, away := t.absence(node)
		t.absent += absent
		t.away += away
		t.missing[node.Validator.Shard] += absent
		t.broken[node.Validator.Shard] += away
		if absent == 0 {
			t.apart = max(t.apart, apart(node, len(nodes)-chunkValidators.away-rpcNodes.away-archives.away))
		}
	}
	return t
}

// absence is 1 or 0 of a producer: whether it counts as absent, and as away.
func (t *turns) absence(node *observed.Node) (absent, away int) {
	switch {
	case node.LetGo, !node.Ready() && !node.Running():
		return 1, 1
	case t.observation.Back(node, t.best):
		return 0, 0
	default:
		return 1, 0
	}
}

// apart is how many others of so many nodes a node that takes part is not
// connected to, so that it would not hear of them when those between them go.
func apart(node *observed.Node, nodes int) int {
	return max(0, nodes-1-node.Status.Peers)
}

// wait is why a node does not go: a reason of the condition Updated, and words
// that follow its name. Without a reason it may go.
type wait struct {
	reason string
	words  string
}

func (w wait) over() bool { return w.reason == "" }

func waitFor(words string) wait { return wait{v1alpha1.ReasonWaiting, words} }

// take says whether it is the turn of the node at an index to go, and counts it
// then. What it returns otherwise says what the node waits for.
func (t *turns) take(i int) wait {
	node := &t.observation.Nodes[i]
	switch node.Validator.Role {
	case topology.RoleRPC:
		return t.takeRPCNode(i)
	case topology.RoleArchive:
		return t.takeArchive(i)
	case topology.RoleChunkValidator:
		return t.takeChunkValidator(i)
	case topology.RoleProducer:
		// Below.
	}
	wait := t.waitOf(node, i)
	if !wait.over() {
		return wait
	}
	t.going[i] = true
	if absent, away := t.absence(node); away == 0 {
		t.taken++
		t.missing[node.Validator.Shard] += 1 - absent
		t.broken[node.Validator.Shard]++
		t.absent -= absent
	}
	return wait
}

// waitOf is what a producer waits for.
func (t *turns) waitOf(node *observed.Node, i int) wait {
	if !node.Ready() && !node.Running() {
		return t.waitOfEnded(node, i)
	}
	if !t.moving {
		return t.waitWithoutChain(node)
	}
	if wait := t.waitForCopy(i); !wait.over() {
		return wait
	}

	absent, away := t.absence(node)
	shard := node.Validator.Shard
	others := t.missing[shard] - absent
	if !node.Ready() {
		// It may vote and serve others all the same, but nobody waits for it: it
		// keeps to those of its shard that do not run at all.
		others = t.broken[shard] - away
	}
	switch {
	case others > 0:
		return waitFor(fmt.Sprintf("waits until the other producers of shard %d are back", shard))
	case t.absentBut(absent)+t.taken >= t.limit:
		return waitFor(fmt.Sprintf("waits until %d of %d producers take part with a complete copy of their shard",
			t.producers()-t.limit+1, t.producers()))
	case node.Ready() && t.apart+t.taken >= t.spare:
		return waitFor("waits until all nodes that take part are connected to each other")
	default:
		return wait{}
	}
}

func (t *turns) producers() int {
	return len(t.observation.Nodes) - t.chunkValidators.all - t.rpcNodes.all - t.archives.all
}

// absentBut is how many count as absent, a number of producers left out. Where
// the spec bounds how many nodes are away, all other nodes count.
func (t *turns) absentBut(producers int) int {
	absent := t.absent - producers
	if t.observation.Network.Spec.Update.MaxUnavailable != nil {
		absent += t.chunkValidators.gone() + t.rpcNodes.gone() + t.archives.gone()
	}
	return absent
}
