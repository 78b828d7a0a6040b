// SPDX-License-Identifier: Apache-2.0

package replacing

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
	case most != nil && node.Ready() && t.absent+t.taken+t.chunkValidators.gone()+t.archives.gone() >= int(*most):
		return waitFor("waits until more of the validators take part")
	}
	nodes.taken = true
	return wait{}
}
