// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
)

// At has a node be at a height, in voting as in executing.
func At(node *observed.Node, height uint64) {
	node.Status.Height, node.Status.FinalizedHeight = height, height
	if seat := node.Validator.Seat; seat != nil {
		node.Status.Tracked = &chain.TrackedStatus{Shard: seat.Shard, ExecutedHeight: height}
	}
}

// Behind has a node be at height 900 of 1200, where it was seen some time ago. What
// is remembered of it can be changed.
func Behind(observation *observed.Network, index int, since time.Duration, changes ...func(*v1alpha1.NodeBehind)) {
	node := &observation.Nodes[index]
	At(node, 900)
	record := v1alpha1.NodeBehind{
		Name: node.Validator.Name, SinceTime: metav1.NewTime(Now.Add(-since)),
		BehindBlocks: ptr.To[int64](300), FinalizedHeight: ptr.To[int64](900), ExecutedHeight: ptr.To[int64](900),
	}
	for _, change := range changes {
		change(&record)
	}
	observation.Network.Status.NodesBehind = append(observation.Network.Status.NodesBehind, record)
}

// StartedAgain is a node that was so many times, the last time when it was last seen.
func StartedAgain(times int32) func(*v1alpha1.NodeBehind) {
	return func(record *v1alpha1.NodeBehind) { record.Restarts, record.RestartTime = times, record.SinceTime }
}
