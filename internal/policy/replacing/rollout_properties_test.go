// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/networks"
)

// observations generates networks with nodes in every state.
var observations = rapid.Custom(func(t *rapid.T) *observed.Network {
	observation := networks.HealthyWith(t, rapid.Int32Range(1, 8).Draw(t, "shards"), rapid.Int32Range(1, 4).Draw(t, "producersPerShard"),
		rapid.Int32Range(0, 4).Draw(t, "chunkValidators"))
	if rapid.Bool().Draw(t, "durable") {
		networks.Durable(observation)
	}
	if rapid.Bool().Draw(t, "bounded") {
		observation.Network.Spec.Update.MaxUnavailable = ptr.To(rapid.Int32Range(1, 40).Draw(t, "maxUnavailable"))
	}
	// Of the networks that are well and those that are not, both matter.
	ill := rapid.IntRange(0, 3).Draw(t, "ill")
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		node.Outdated = rapid.Bool().Draw(t, "outdated")
		node.LetGo = rapid.IntRange(0, 19).Draw(t, "letGo") == 0
		if rapid.IntRange(0, 9).Draw(t, "trouble") >= 3*ill {
			continue
		}
		switch rapid.IntRange(0, 7).Draw(t, "state") {
		case 0:
			networks.NoPod(node)
		case 1:
			networks.Leaving(node)
		case 2:
			networks.Pending(node)
		case 3:
			networks.Ended(node)
		case 4:
			networks.Incomplete(node)
		case 5:
			networks.Back(node, time.Second)
		case 6:
			node.Status = nil
		default:
			networks.Stopped(node)
		}
	}
	return observation
})

func TestRolloutsAreSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observation := observations.Draw(t, "observation")
		replaced := replacing.NewRollout(observation).Replace
		checkReplaced(t, observation, replaced)
		for i := range observation.Nodes {
			node := &observation.Nodes[i]
			if replaceable := node.Outdated && node.Pod != nil && node.Pod.DeletionTimestamp == nil; !replaceable &&
				slices.Contains(replaced, i) {
				t.Fatalf("node %d is replaced, which is up to date or has no pod to replace", i)
			}
		}
	})
}

func isProducer(node *observed.Node) bool { return node.Validator.Role == topology.RoleProducer }

func producersOf(observation *observed.Network) int {
	return int(observation.Network.Spec.Shards * observation.Network.Spec.ProducersPerShard)
}

// checkReplaced checks that neither a shard nor the chain loses what it needs.
func checkReplaced(t *rapid.T, observation *observed.Network, replaced []int) {
	checkCopies(t, observation, replaced)
	checkQuorum(t, observation, replaced)
	checkChunkValidators(t, observation, replaced)
}

// checkCopies checks that with every node that is replaced, and the chance that
// those go that may be evicted, a whole copy of its shard stays in one that is not.
func checkCopies(t *rapid.T, observation *observed.Network, replaced []int) {
	moving := observation.ReadyNodes() > 0
	hasDisk := observation.Network.Spec.Volume != nil
	for _, i := range replaced {
		node := &observation.Nodes[i]
		held := node.Pod.Status.ContainerStatuses != nil
		if !isProducer(node) || !held || hasDisk && (!node.Running() || !moving || observation.Network.Spec.ProducersPerShard == 1) {
			continue
		}
		if !slices.ContainsFunc(wholeCopies(observation, node.Validator.Shard), func(j int) bool { return !slices.Contains(replaced, j) }) {
			t.Fatalf("%s is replaced, and no whole copy of shard %d stays", node.Validator.Name, node.Validator.Shard)
		}
	}
}

// wholeCopies are the nodes that take part and have a whole copy of a shard.
func wholeCopies(observation *observed.Network, shard int) (whole []int) {
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if isProducer(node) && node.Validator.Shard == shard && !node.LetGo && node.Ready() &&
			node.Status != nil && node.Status.Copy.Complete {
			whole = append(whole, i)
		}
	}
	return whole
}

// checkQuorum checks that what is replaced costs the chain no quorum, and no
// shard two producers at a time.
func checkQuorum(t *rapid.T, observation *observed.Network, replaced []int) {
	nodes := producersOf(observation)
	picked := make([]int, observation.Plan.Shards)
	ready, readyPicked, running := 0, 0, 0
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if !isProducer(node) || node.LetGo {
			continue
		}
		going := slices.Contains(replaced, i)
		if going && node.Running() {
			running++
			picked[node.Validator.Shard]++
		}
		if node.Ready() {
			ready++
			if going {
				readyPicked++
			}
		}
	}
	if most := slices.Max(picked); most > 1 {
		t.Fatalf("%d producers of a shard that run are replaced", most)
	}
	spare := max(1, (nodes-1)/3)
	if bound := observation.Network.Spec.Update.MaxUnavailable; bound != nil {
		spare = min(spare, int(*bound))
	}
	if running > spare {
		t.Fatalf("%d producers that run are replaced, of which %d may be", running, spare)
	}
	if left := ready - readyPicked; nodes >= 4 && readyPicked > 0 && 3*ready > 2*nodes && 3*left <= 2*nodes {
		t.Fatalf("of %d producers %d took part, and only %d remain", nodes, ready, left)
	}
}

// checkChunkValidators checks that no two chunk validators are away because they
// are replaced.
func checkChunkValidators(t *rapid.T, observation *observed.Network, replaced []int) {
	picked, away := 0, 0
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		switch {
		case isProducer(node):
		case node.LetGo, !node.Running():
			away++
		case slices.Contains(replaced, i):
			picked++
		}
	}
	if picked > 1 || picked == 1 && away > 0 {
		t.Fatalf("%d chunk validators that run are replaced while %d do not run", picked, away)
	}
}

// An update of a network that is well comes to its end.
func TestRolloutsEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observation := networks.HealthyWith(t, rapid.Int32Range(1, 40).Draw(t, "shards"), rapid.Int32Range(1, 4).Draw(t, "producersPerShard"),
			rapid.Int32Range(0, 10).Draw(t, "chunkValidators"))
		if observation.Network.Spec.ProducersPerShard == 1 {
			networks.Durable(observation)
		}
		networks.Outdate(observation)
		for round := 0; ; round++ {
			rollout := replacing.NewRollout(observation)
			if rollout.Updated.Reason == v1alpha1.ReasonUpToDate {
				break
			}
			if len(rollout.Replace) == 0 || round > len(observation.Nodes) {
				t.Fatalf("the update stands still in round %d: %s", round, rollout.Updated.Message)
			}
			checkReplaced(t, observation, rollout.Replace)
			observation.Network.Status.Update = rollout.Update
			for _, i := range rollout.Replace {
				observation.Nodes[i].Outdated = false
			}
		}
	})
}
