// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"fmt"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

// waitWithoutChain is what a producer that runs waits for while the chain stands
// still: no node takes part, but all that run are needed for it to go on. What
// they have must outlive them, and then a change may be what brings it back.
func (t *turns) waitWithoutChain(node *observed.Node) wait {
	switch _, away := t.absence(node); {
	case !t.durable:
		return awaitChain(fmt.Sprintf(
			"stays while the chain stands still: it has votes and a copy of shard %d that the chain may need to go on, and "+
				"that would be lost with its pod", node.Validator.Shard))
	case t.best != nil && !t.observation.Stalled(time.UnixMilli(t.best.FinalizedTimeMs)):
		return waitFor("waits until nodes take part again, or the chain has stood still for a while")
	case t.broken[node.Validator.Shard]-away > 0, t.away-away+t.taken >= t.limit:
		return waitFor("waits until the nodes run that went before it")
	default:
		return wait{}
	}
}

func awaitChain(words string) wait { return wait{v1alpha1.ReasonAwaitingChain, words} }
