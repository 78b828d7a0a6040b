// SPDX-License-Identifier: Apache-2.0

package policy

import "github.com/shardyard/shardyard/internal/topology"

// rpcNodeTurns are what is left of the rpc nodes while one after the other goes.
type rpcNodeTurns struct {
	// all are the rpc nodes, away those that do not run, and absent those that do
	// not take part or have only just begun to.
	all, away, absent int
	// taken is true when one that runs is about to go.
	taken bool
}

func newRPCNodeTurns(observation *Observation) rpcNodeTurns {
	var t rpcNodeTurns
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if node.Validator.Role != topology.RoleRPC {
			continue
		}
		t.all++
		switch {
		case node.LetGo, !node.Ready() && !node.Running():
			t.away++
			t.absent++
		case !node.Ready() || !settled(node, observation.Now):
			t.absent++
		}
	}
	return t
}

// gone are the rpc nodes that are absent or about to go.
func (t *rpcNodeTurns) gone() int {
	if t.taken {
		return t.absent + 1
	}
	return t.absent
}

// takeRPCNode says whether it is an rpc node's turn to go, and counts it then. The
// chain needs none, and none holds a state: they go one by one whatever state the
// chain is in, so that the others serve clients. The only one goes as well.
func (t *turns) takeRPCNode(i int) wait {
	node, nodes := &t.observation.Nodes[i], &t.rpcNodes
	most := t.observation.Network.Spec.Update.MaxUnavailable
	switch {
	case node.LetGo, !node.Ready() && !node.Running():
		return wait{}
	case nodes.taken,
		node.Ready() && nodes.absent > 0,
		!node.Ready() && nodes.away > 0:
		return waitFor("waits until the other rpc nodes take part")
	case most != nil && node.Ready() && t.absent+t.taken+t.chunkValidators.gone() >= int(*most):
		return waitFor("waits until more of the validators take part")
	}
	nodes.taken = true
	return wait{}
}
