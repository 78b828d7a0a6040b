// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/topology"
)

// chunkValidatorTurns are what is left of the chunk validators while one after
// the other goes.
type chunkValidatorTurns struct {
	roleTurns
	// spare is how many validators, producers included, may be away for chunks
	// to be endorsed.
	spare int
}

func newChunkValidatorTurns(observation *observed.Network) chunkValidatorTurns {
	validators := 0
	for i := range observation.Nodes {
		if observation.Nodes[i].Validator.Role.Validates() {
			validators++
		}
	}
	return chunkValidatorTurns{newRoleTurns(observation, topology.RoleChunkValidator), max(1, (validators-1)/3)}
}

// takeChunkValidator says whether it is a chunk validator's turn to go, and
// counts it then. Consensus and shards do without any, and none holds a state, so
// they go one by one whatever state the chain is in. Only their endorsements are
// missed: one that takes part stays while so many producers are missing that
// chunks would lack endorsements.
func (t *turns) takeChunkValidator(i int) wait {
	node, validators := &t.observation.Nodes[i], &t.chunkValidators
	most := t.observation.Network.Spec.Update.MaxUnavailable
	producers := t.absent + t.taken
	switch {
	case node.LetGo, !node.Ready() && !node.Running():
		return wait{}
	case validators.taken,
		node.Ready() && validators.absent > 0,
		!node.Ready() && validators.away > 0:
		return waitFor("waits until the other chunk validators take part")
	case node.Ready() && producers >= validators.spare,
		most != nil && node.Ready() && producers+t.rpcNodes.gone()+t.archives.gone() >= int(*most):
		return waitFor("waits until more of the producers take part")
	}
	validators.taken = true
	return wait{}
}
