// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"fmt"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

// canary is the first node of an update, which goes alone.
type canary struct {
	// awaited is true until a node that was replaced is back.
	awaited bool
	// going is a node that was replaced or is about to be, and taken is true once
	// one is picked.
	going string
	taken bool
}

// newCanary awaits one in the first phase of an update. A chain that stands still
// brings no node back.
func newCanary(observation *observed.Network, phase v1alpha1.UpdatePhase) *canary {
	best := observation.Best()
	c := &canary{awaited: phase == v1alpha1.UpdateCanary && observation.ReadyNodes() > 0}
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		leaving := node.Outdated && node.Pod != nil && node.Pod.DeletionTimestamp != nil
		switch {
		case node.Updated() && observation.Back(node, best):
			c.awaited = false
		case (node.Updated() || leaving) && c.going == "":
			c.going = node.Validator.Name
		}
	}
	return c
}

// wait is what a node that runs waits for.
func (c *canary) wait() wait {
	switch {
	case c.awaited && c.going != "":
		return waitFor(fmt.Sprintf("waits until %s, which was replaced first, is back", c.going))
	case c.awaited && c.taken:
		return waitFor("waits until the node that is replaced first is back")
	default:
		return wait{}
	}
}
