// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/topology"
)

// outdate has all nodes run something else than the spec says.
func outdate(observation *policy.Observation) {
	for i := range observation.Nodes {
		observation.Nodes[i].Outdated = true
	}
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		shards, producers int32
		change            func(*policy.Observation)
		want              []int
		reason            string
		message           string
	}{
		"up to date": {
			2, 2, func(*policy.Observation) {}, nil, v1alpha1.ReasonUpToDate, "all 4 nodes run what the spec says",
		},
		"settling": {
			2, 2, func(observation *policy.Observation) { observation.Settling = true },
			nil, v1alpha1.ReasonUpdating, "taking up the objects",
		},
		"not applied": {
			2, 2, func(observation *policy.Observation) { observation.Unapplied = true },
			nil, v1alpha1.ReasonObjectsPending, "see the condition Applied",
		},
		"a lagging node that serves the one that starts": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				observation.Nodes[0].Outdated = false
				notReady(&observation.Nodes[0])
				notReady(&observation.Nodes[1])
			},
			nil, v1alpha1.ReasonWaiting, "",
		},
		"a node that is alone in not taking part": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				notReady(&observation.Nodes[1])
			},
			[]int{1},
			v1alpha1.ReasonUpdating, "",
		},
		"one of four": {
			2, 2, outdate, []int{0}, v1alpha1.ReasonUpdating, "4 of 4 nodes run something else",
		},
		"only what is outdated": {
			2, 2, func(observation *policy.Observation) { observation.Nodes[3].Outdated = true },
			[]int{3},
			v1alpha1.ReasonUpdating, "1 of 4",
		},
		"one of a shard": {
			// (140 - 1) / 3 / 2 = 23 nodes may be away.
			70, 2, outdate,
			[]int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44},
			v1alpha1.ReasonUpdating, "140 of 140",
		},
		"those that are away count": {
			// (16 - 1) / 3 / 2 = 2 nodes may be away.
			8, 2, func(observation *policy.Observation) {
				outdate(observation)
				observation.Nodes[0].Outdated = false
				noPod(&observation.Nodes[0])
			},
			[]int{2},
			v1alpha1.ReasonUpdating, "",
		},
		"too many are away": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				leaving(&observation.Nodes[0])
			},
			nil, v1alpha1.ReasonWaiting, "4 of 4 nodes run something else than the spec says; the next is replaced when",
		},
		"what does not run goes at once": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				crashed(&observation.Nodes[1], corev1.ContainerStateTerminated{ExitCode: 1})
				pending(&observation.Nodes[2])
			},
			[]int{1, 2},
			v1alpha1.ReasonUpdating, "",
		},
		"a chain that stands still gets going node by node": {
			// (16 - 1) / 3 / 2 = 2 nodes may be away.
			8, 2, func(observation *policy.Observation) {
				outdate(observation)
				for i := range observation.Nodes {
					notReady(&observation.Nodes[i])
				}
			},
			[]int{0, 2},
			v1alpha1.ReasonUpdating, "",
		},
		"a chain that stands still waits for the node that starts": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				for i := range observation.Nodes {
					notReady(&observation.Nodes[i])
				}
				observation.Nodes[0].Outdated = false
				pending(&observation.Nodes[0])
			},
			nil, v1alpha1.ReasonWaiting, "",
		},
		"nodes that still look for each other": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				observation.Nodes[0].Outdated = false
				observation.Nodes[0].Status.Peers = 2
				observation.Nodes[3].Status.Peers = 2
			},
			nil, v1alpha1.ReasonWaiting, "",
		},
		"a node that has only just come back": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				observation.Nodes[0].Outdated = false
				observation.Nodes[0].Pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-9 * time.Second))
			},
			nil, v1alpha1.ReasonWaiting, "",
		},
		"a node that has been back for a while": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				observation.Nodes[0].Outdated = false
				observation.Nodes[0].Pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-10 * time.Second))
			},
			[]int{1},
			v1alpha1.ReasonUpdating, "",
		},
		"a node that does not say whom it is connected to": {
			2, 2, func(observation *policy.Observation) {
				outdate(observation)
				observation.Nodes[3].Status = nil
			},
			nil, v1alpha1.ReasonWaiting, "",
		},
		"connections to spare": {
			// Of 16 nodes 5 may be away, so with 4 connections lacking 1 more.
			8, 2, func(observation *policy.Observation) {
				outdate(observation)
				observation.Nodes[3].Status.Peers = 11
			},
			[]int{0},
			v1alpha1.ReasonUpdating, "",
		},
		"no pod to replace": {
			2, 2, func(observation *policy.Observation) {
				observation.Nodes[1].Outdated = true
				noPod(&observation.Nodes[1])
			},
			nil, v1alpha1.ReasonWaiting, "1 of 4",
		},
		"a shard waits for its other producer": {
			8, 2, func(observation *policy.Observation) {
				observation.Nodes[0].Outdated = true
				notReady(&observation.Nodes[1])
			},
			nil, v1alpha1.ReasonWaiting, "",
		},
		"single producers": {4, 1, outdate, []int{0}, v1alpha1.ReasonUpdating, ""},
		"many single producers": {
			// (13 - 1) / 3 / 2 = 2 nodes may be away.
			13, 1, outdate, []int{0, 1}, v1alpha1.ReasonUpdating, "",
		},
		"three nodes": {3, 1, outdate, []int{0}, v1alpha1.ReasonUpdating, ""},
		"one of three nodes is away": {
			3, 1, func(observation *policy.Observation) {
				outdate(observation)
				observation.Nodes[2].Outdated = false
				notReady(&observation.Nodes[2])
			},
			nil, v1alpha1.ReasonWaiting, "",
		},
		"one node": {1, 1, outdate, []int{0}, v1alpha1.ReasonUpdating, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := healthy(t, test.shards, test.producers)
			test.change(observation)
			restart, updated := policy.Restarts(observation)
			if !slices.Equal(restart, test.want) {
				t.Errorf("restarts are %v, want %v", restart, test.want)
			}
			status := metav1.ConditionFalse
			switch test.reason {
			case v1alpha1.ReasonUpToDate:
				status = metav1.ConditionTrue
			case v1alpha1.ReasonObjectsPending:
				status = metav1.ConditionUnknown
			}
			checkCondition(t, updated, status, test.reason, test.message)
		})
	}
}

// observations generates networks with nodes in every state.
var observations = rapid.Custom(func(t *rapid.T) *policy.Observation {
	observation := healthyWith(t, rapid.Int32Range(1, 8).Draw(t, "shards"), rapid.Int32Range(1, 4).Draw(t, "producersPerShard"),
		rapid.Int32Range(0, 4).Draw(t, "chunkValidators"))
	// Of the networks that are well and those that are not, both matter.
	ill := rapid.IntRange(0, 3).Draw(t, "ill")
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		node.Outdated = rapid.Bool().Draw(t, "outdated")
		if rapid.IntRange(0, 9).Draw(t, "trouble") >= 3*ill {
			continue
		}
		switch rapid.IntRange(0, 3).Draw(t, "state") {
		case 0:
			noPod(node)
		case 1:
			leaving(node)
		case 2:
			pending(node)
		default:
			notReady(node)
		}
	}
	return observation
})

func TestRestartsAreSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observation := observations.Draw(t, "observation")
		restart, _ := policy.Restarts(observation)
		checkRestarts(t, observation, restart)
		running := 0
		for i := range observation.Nodes {
			node := &observation.Nodes[i]
			replaceable := node.Outdated && node.Pod != nil && node.Pod.DeletionTimestamp == nil
			if picked := slices.Contains(restart, i); picked && !replaceable {
				t.Fatalf("node %d is picked, which is up to date or has no pod to replace", i)
			} else if replaceable && !node.Ready() && !node.Running() && !picked {
				t.Fatalf("node %d does not run and is not picked", i)
			} else if picked && node.Running() && isProducer(node) {
				running++
			}
		}
		if most := max(1, (producersOf(observation)-1)/3); running > most {
			t.Fatalf("%d producers that run are picked, of which consensus can do without %d", running, most)
		}
	})
}

func isProducer(node *policy.Node) bool { return node.Validator.Role == topology.RoleProducer }

func producersOf(observation *policy.Observation) int {
	return int(observation.Network.Spec.Shards * observation.Network.Spec.ProducersPerShard)
}

// checkRestarts checks that neither a shard nor the chain loses what it needs.
func checkRestarts(t *rapid.T, observation *policy.Observation, restart []int) {
	checkChunkValidatorRestarts(t, observation, restart)
	producers, nodes := int(observation.Network.Spec.ProducersPerShard), producersOf(observation)
	before := make([]int, observation.Plan.Shards)
	picked := make([]int, observation.Plan.Shards)
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if !node.Ready() || !isProducer(node) {
			continue
		}
		before[node.Validator.Shard]++
		if slices.Contains(restart, i) {
			picked[node.Validator.Shard]++
		}
	}
	readyBefore, readyPicked := 0, 0
	for shard := range before {
		readyBefore += before[shard]
		readyPicked += picked[shard]
		if picked[shard] > 1 {
			t.Fatalf("%d producers of shard %d that take part are picked", picked[shard], shard)
		}
		if producers >= 2 && before[shard] > 0 && before[shard] == picked[shard] {
			t.Fatalf("shard %d loses its last producer", shard)
		}
	}
	readyAfter := readyBefore - readyPicked
	switch {
	case nodes >= 4 && 3*readyBefore > 2*nodes && 3*readyAfter <= 2*nodes:
		t.Fatalf("of %d producers %d took part, and only %d remain", nodes, readyBefore, readyAfter)
	case nodes < 4 && readyPicked > 1:
		t.Fatalf("%d of %d producers are picked, want one by one", readyPicked, nodes)
	}
}

// checkChunkValidatorRestarts checks that no two chunk validators are away
// because of a restart.
func checkChunkValidatorRestarts(t *rapid.T, observation *policy.Observation, restart []int) {
	picked, away := 0, 0
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		switch {
		case isProducer(node):
		case !node.Running():
			away++
		case slices.Contains(restart, i):
			picked++
		}
	}
	if picked > 1 || picked == 1 && away > 0 {
		t.Fatalf("%d chunk validators that run are picked while %d do not run", picked, away)
	}
}

// An update of a network that is well comes to its end.
func TestUpdatesEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observation := healthyWith(t, rapid.Int32Range(1, 40).Draw(t, "shards"), rapid.Int32Range(1, 4).Draw(t, "producersPerShard"),
			rapid.Int32Range(0, 10).Draw(t, "chunkValidators"))
		outdate(observation)
		for round := 0; ; round++ {
			restart, updated := policy.Restarts(observation)
			if updated.Reason == v1alpha1.ReasonUpToDate {
				break
			}
			if len(restart) == 0 || round > len(observation.Nodes) {
				t.Fatalf("the update stands still in round %d: %s", round, updated.Message)
			}
			checkRestarts(t, observation, restart)
			for _, i := range restart {
				observation.Nodes[i].Outdated = false
			}
		}
	})
}
