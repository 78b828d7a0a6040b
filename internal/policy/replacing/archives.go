// SPDX-License-Identifier: Apache-2.0

package replacing

import "fmt"

// takeArchive says whether it is an archive's turn to go, and counts it then. The
// chain needs none, so they go one by one whatever state it is in. But one that runs
// stays while a shard has no producer that takes part with a complete copy: it may be
// the only one that has the shard's state.
func (t *turns) takeArchive(i int) wait {
	node, archives := &t.observation.Nodes[i], &t.archives
	most := t.observation.Network.Spec.Update.MaxUnavailable
	switch {
	case node.LetGo, !node.Ready() && !node.Running():
		return wait{}
	case archives.taken,
		node.Ready() && archives.absent > 0,
		!node.Ready() && archives.away > 0:
		return waitFor("waits until the other archives take part")
	case most != nil && node.Ready() && t.absent+t.taken+t.chunkValidators.gone()+t.rpcNodes.gone() >= int(*most):
		return waitFor("waits until more of the validators take part")
	}
	if shard, without := t.shardWithoutCopy(); without {
		return waitFor(fmt.Sprintf("waits until a producer of shard %d takes part with a complete copy: "+
			"the archive may be the only one that has its state", shard))
	}
	archives.taken = true
	return wait{}
}

// shardWithoutCopy is a shard none of whose producers takes part with a complete copy,
// and whether there is one.
func (t *turns) shardWithoutCopy() (int, bool) {
	for shard, missing := range t.missing {
		if missing >= int(t.observation.Network.Spec.ProducersPerShard) {
			return shard, true
		}
	}
	return 0, false
}
