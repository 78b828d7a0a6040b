// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/topology"
)

// roleTurns are what is left of the nodes of a role that holds no state while one
// after the other goes.
type roleTurns struct {
	// all are the nodes of the role, away those that do not run, and absent those
	// that do not take part or have only just begun to.
	all, away, absent int
	// taken is true when one that runs is about to go.
	taken bool
}

func newRoleTurns(observation *observed.Network, role topology.Role) roleTurns {
	var t roleTurns
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if node.Validator.Role != role {
			continue
		}
		t.all++
		switch {
		case node.LetGo, !node.Ready() && !node.Running():
			t.away++
			t.absent++
		case !node.Ready() || !observed.Settled(node, observation.Now):
			t.absent++
		}
	}
	return t
}

// gone are the nodes that are absent or about to go.
func (t *roleTurns) gone() int {
	if t.taken {
		return t.absent + 1
	}
	return t.absent
}
