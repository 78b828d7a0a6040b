// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// settleTime is how long a node that has come back fetches what it missed: from
// those that would go next.
const settleTime = 10 * time.Second

// MaxCopyLag is how many blocks a producer may be behind the chain for others to
// count on its copy of their shard.
const MaxCopyLag = 4

// Back says whether a node does what it did before it was replaced: takes part,
// and has what others of its shard would need.
func (o *Network) Back(node *Node, best *chain.Status) bool {
	if node.Validator.Seat == nil {
		return node.Ready() && Settled(node, o.Now)
	}
	return Uncounted(node, best, o.Now) == ""
}

// Settled says whether a node that takes part has done so for a while.
func Settled(node *Node, now time.Time) bool {
	if node.Unobserved {
		// Nobody tells since when. It is not replaced as long as that is so.
		return true
	}
	condition := pods.Condition(node.Pod, corev1.PodReady)
	return now.Sub(condition.LastTransitionTime.Time) >= settleTime
}

// Uncounted says why nobody can count on a producer's copy of its shard: should
// the others of the shard lose theirs, it would not bring them back. It is empty
// when they can.
func Uncounted(node *Node, best *chain.Status, now time.Time) string {
	status := node.Status
	switch {
	case node.LetGo:
		return "may go itself"
	case !node.Ready():
		return "does not take part"
	case !Settled(node, now):
		return "has only just begun to take part"
	case status == nil:
		return "does not answer the operator"
	case status.GenesisHash != best.GenesisHash:
		return "follows another genesis document"
	case status.Copy == nil:
		return "does not say whether its copy of the shard is complete"
	case !status.Copy.Complete && len(status.Copy.Missing) == 0:
		return "has no complete copy of the shard"
	case !status.Copy.Complete:
		return "has no complete copy of the shard: " + wording.Quote(status.Copy.Missing[0])
	case status.FinalizedHeight+MaxCopyLag < best.FinalizedHeight:
		return fmt.Sprintf("is at height %d, the chain at %d", status.FinalizedHeight, best.FinalizedHeight)
	default:
		return ""
	}
}
