// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"time"

	"github.com/shardyard/shardyard/internal/policy/observed"
)

// FinalizedAt is a chain whose last block is of some time.
func FinalizedAt(observation *observed.Network, last string) {
	at, err := time.Parse(time.RFC3339, last)
	if err != nil {
		panic(err)
	}
	for i := range observation.Nodes {
		observation.Nodes[i].Status.FinalizedTimeMs = at.UnixMilli()
	}
}

// Halt has a chain stand still that the nodes have not noticed to do so.
func Halt(observation *observed.Network) {
	All(observation, func(node *observed.Node) { node.Status.FinalizedTimeMs = Now.Add(-time.Minute).UnixMilli() })
}

// Silence is a network whose shard 1 has no chunk since a height.
func Silence(observation *observed.Network, since uint64) {
	All(observation, func(node *observed.Node) { node.Status.Shards[1].ChunkHeight = since })
}
