// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
)

// Sample is what the nodes of a network tell at one time.
type Sample struct {
	Nodes []NodeSample
}

// NodeSample is what one node tells.
type NodeSample struct {
	Name string
	// Status is nil when the node did not answer.
	Status *chain.Status
	// CPU is the time that the node's processes have used, those that ended
	// included.
	CPU time.Duration
}

// Best is the status of the node that knows most of the chain; nil when no node
// answered.
func (s Sample) Best() *chain.Status {
	if ranked := s.ranked(); len(ranked) > 0 {
		return ranked[0].Status
	}
	return nil
}

// Answers are the statuses of the nodes that answered.
func (s Sample) Answers() []*chain.Status {
	var statuses []*chain.Status
	for _, node := range s.Nodes {
		if node.Status != nil {
			statuses = append(statuses, node.Status)
		}
	}
	return statuses
}

// ranked are the nodes that answered, those with the most finalised blocks
// first.
func (s Sample) ranked() []NodeSample {
	ranked := slices.DeleteFunc(slices.Clone(s.Nodes), func(node NodeSample) bool { return node.Status == nil })
	slices.SortStableFunc(ranked, func(a, b NodeSample) int {
		return cmp.Compare(b.Status.FinalizedHeight, a.Status.FinalizedHeight)
	})
	return ranked
}

// Status is what the node of that name told; nil when it did not answer, or was not asked.
func (s Sample) Status(name string) *chain.Status {
	for _, node := range s.Nodes {
		if node.Name == name {
			return node.Status
		}
	}
	return nil
}
