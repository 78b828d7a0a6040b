// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
)

// cordon has some nodes be on cordoned machines, and the others on machines that
// stay.
func cordon(observation *policy.Observation, indices ...int) {
	for i := range observation.Nodes {
		observation.Nodes[i].Machine = policy.MachineOf("machine-"+strconv.Itoa(i), &corev1.Node{
			Spec: corev1.NodeSpec{Unschedulable: slices.Contains(indices, i)},
		})
	}
}

// letGo is a node that may be evicted.
func letGo(node *policy.Node) { node.LetGo = true }

// unanswering is a node that does not answer the operator.
func unanswering(node *policy.Node) { node.Status = nil }

// halt has a chain stand still that the nodes have not noticed to do so.
func halt(observation *policy.Observation) {
	all(observation, func(node *policy.Node) { node.Status.FinalizedTimeMs = now.Add(-time.Minute).UnixMilli() })
}

func TestDrains(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		shards, producers, chunkValidators int32

		change      func(*policy.Observation)
		letGo, hold []int
		reason      string
		message     string
	}{
		"no machine is cordoned": {
			2, 2, 0, func(observation *policy.Observation) { cordon(observation) }, nil, nil, v1alpha1.ReasonNothingDrained, "",
		},
		"one machine": {
			2, 2, 0, func(observation *policy.Observation) { cordon(observation, 2) },
			[]int{2},
			nil, v1alpha1.ReasonDraining,
			"quickstart-s1-p0 may be evicted from the machine machine-2, which is cordoned",
		},
		"a machine about to be removed": {
			2, 2, 0, func(observation *policy.Observation) {
				cordon(observation)
				observation.Nodes[1].Machine.Leaving = "has the taint karpenter.sh/disrupted"
			},
			[]int{1},
			nil, v1alpha1.ReasonDraining, "machine-1, which has the taint karpenter.sh/disrupted",
		},
		"all machines, one after the other": {
			2, 2, 0, func(observation *policy.Observation) { cordon(observation, 0, 1, 2, 3) },
			[]int{0},
			nil, v1alpha1.ReasonDraining,
			"machine-0, which is cordoned; the machine machine-1 is cordoned; quickstart-s0-p1 waits for somebody else's copy of shard 0: " +
				"quickstart-s0-p0 goes just now (and 2 more wait)",
		},
		"one of a shard, within what consensus spares": {
			// (16 - 1) / 3 / 2 = 2 nodes may be away.
			8, 2, 0, func(observation *policy.Observation) { cordon(observation, 3, 4, 5, 6) }, []int{3, 4}, nil, v1alpha1.ReasonDraining, "",
		},
		"one that was let go counts until it is back": {
			2, 2, 0, func(observation *policy.Observation) {
				cordon(observation, 0, 2)
				letGo(&observation.Nodes[0])
			},
			nil, nil, v1alpha1.ReasonDraining,
			"quickstart-s0-p0 may be evicted from the machine machine-0, which is cordoned; the machine machine-2 is cordoned; " +
				"quickstart-s1-p0 waits until 4 of 4 producers take part with a complete copy of their shard",
		},
		"one that was evicted counts until it is back": {
			2, 2, 0, func(observation *policy.Observation) {
				cordon(observation, 2)
				noPod(&observation.Nodes[0])
			},
			nil, nil, v1alpha1.ReasonDrainWaiting,
			"the machine machine-2 is cordoned; quickstart-s1-p0 waits until 4 of 4 producers take part with a complete copy of their shard",
		},
		"the twin of one that is back without its state": {
			8, 2, 0, func(observation *policy.Observation) {
				cordon(observation, 2)
				incomplete(&observation.Nodes[3])
			},
			nil, nil, v1alpha1.ReasonDrainWaiting, "quickstart-s1-p0 waits for somebody else's copy of shard 1: quickstart-s1-p1 has no",
		},
		"the twin of one that does not say what it has": {
			8, 2, 0, func(observation *policy.Observation) {
				durable(observation)
				cordon(observation, 2)
				observation.Nodes[3].Status.Copy = nil
			},
			nil, nil, v1alpha1.ReasonDrainWaiting, "quickstart-s1-p1 does not say whether its copy of the shard is complete",
		},
		"the twin of one on a machine that does not answer": {
			8, 2, 0, func(observation *policy.Observation) {
				durable(observation)
				cordon(observation, 2)
				silentMachine(&observation.Nodes[3])
			},
			nil, nil, v1alpha1.ReasonDrainWaiting, "quickstart-s1-p1 does not take part",
		},
		"a single producer with a disk": {
			4, 1, 0, func(observation *policy.Observation) {
				durable(observation)
				cordon(observation, 1)
			},
			[]int{1},
			nil, v1alpha1.ReasonDraining, "",
		},
		"the only copy": {
			4, 1, 0, func(observation *policy.Observation) { cordon(observation, 1) }, nil, nil, v1alpha1.ReasonDrainWaiting,
			"quickstart-s1-p0 has the only copy of shard 1",
		},
		"a node that does not run, with its disk": {
			2, 2, 0, func(observation *policy.Observation) {
				durable(observation)
				ended(&observation.Nodes[1])
				cordon(observation, 1)
			},
			[]int{1},
			nil, v1alpha1.ReasonDraining, "",
		},
		"nobody needs leave to evict what never ran": {
			2, 2, 0, func(observation *policy.Observation) {
				cordon(observation, 0, 1)
				pending(&observation.Nodes[0])
			},
			nil, nil, v1alpha1.ReasonDrainWaiting, "the machine machine-1 is cordoned; quickstart-s0-p1 waits",
		},
		"nobody needs leave to evict what goes already": {
			2, 2, 0,
			func(observation *policy.Observation) {
				cordon(observation, 0)
				leaving(&observation.Nodes[0])
			},
			nil, nil, v1alpha1.ReasonNothingDrained, "",
		},
		"the machine is kept after all": {
			2, 2, 0, func(observation *policy.Observation) {
				cordon(observation)
				letGo(&observation.Nodes[0])
			},
			nil,
			[]int{0},
			v1alpha1.ReasonNothingDrained, "",
		},
		"nobody else goes while that is not known yet": {
			2, 2, 0, func(observation *policy.Observation) {
				cordon(observation, 2)
				letGo(&observation.Nodes[0])
			},
			nil,
			[]int{0},
			v1alpha1.ReasonDrainWaiting, "",
		},
		"chunk validators go one by one": {
			2, 2, 3, func(observation *policy.Observation) { cordon(observation, 4, 5, 6) },
			[]int{4},
			nil, v1alpha1.ReasonDraining,
			"quickstart-v0 may be evicted from the machine machine-4, which is cordoned; the machine machine-5 is cordoned; " +
				"quickstart-v1 waits until the other chunk validators take part (and 1 more wait)",
		},
		"machines that nobody may look at": {
			2, 2, 0, func(observation *policy.Observation) {
				letGo(&observation.Nodes[0])
				observation.UnknownMachines = []policy.UnknownMachines{{Cause: errors.New("nodes is forbidden")}}
			},
			nil, nil, v1alpha1.ReasonDraining, "quickstart-s0-p0 may be evicted from a machine of which nothing is known",
		},
		"in a cluster that cannot be used": {
			2, 2, 0, func(observation *policy.Observation) {
				cordon(observation, 0)
				observation.Nodes[0].Unobserved, observation.Nodes[0].SaysReady = true, true
			},
			nil, nil, v1alpha1.ReasonNothingDrained, "",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := healthyWith(t, test.shards, test.producers, test.chunkValidators)
			test.change(observation)
			drains := policy.NewDrains(observation)
			if !slices.Equal(drains.LetGo, test.letGo) || !slices.Equal(drains.Hold, test.hold) {
				t.Errorf("%v are let go and %v held, want %v and %v: %s",
					drains.LetGo, drains.Hold, test.letGo, test.hold, drains.MachinesKept.Message)
			}
			status := metav1.ConditionFalse
			if test.reason == v1alpha1.ReasonNothingDrained {
				status = metav1.ConditionTrue
			}
			checkCondition(t, drains.MachinesKept, status, test.reason, test.message)
		})
	}
}

// While the chain stands still no producer goes, running or not, with a disk or
// without: nobody knows which of them it needs to go on. Chunk validators it does
// not need.
func TestDrainsWhileTheChainStandsStill(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*policy.Observation){
		"nobody takes part":  func(observation *policy.Observation) { all(observation, stopped) },
		"nobody has noticed": halt,
		"nobody runs":        func(observation *policy.Observation) { all(observation, ended) },
		"one has ended":      func(observation *policy.Observation) { all(observation, stopped); ended(&observation.Nodes[3]) },
	} {
		for kind, prepare := range map[string]func(*policy.Observation){"disks": durable, "none": func(*policy.Observation) {}} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				observation := healthyWith(t, 2, 2, 1)
				prepare(observation)
				stop(observation)
				cordon(observation, 0, 1, 2, 3, 4)
				drains := policy.NewDrains(observation)
				if !slices.Equal(drains.LetGo, []int{4}) {
					t.Errorf("%v are let go, want the chunk validator alone", drains.LetGo)
				}
				checkCondition(t, drains.MachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDraining,
					"quickstart-s0-p0 stays while the chain stands still, which may need it to go on (and 3 more wait)")
			})
		}
	}
}

// Of a network that does not answer the operator nobody knows whether it can do
// without anybody.
func TestNobodyIsLetGoUnseen(t *testing.T) {
	t.Parallel()
	observation := healthyWith(t, 2, 2, 1)
	all(observation, unanswering)
	cordon(observation, 0, 1, 2, 3, 4)
	drains := policy.NewDrains(observation)
	if len(drains.LetGo) > 0 {
		t.Errorf("%v are let go", drains.LetGo)
	}
	checkCondition(t, drains.MachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting, "(and 4 more wait)")
}

// What is let go in one run, what is replaced in it counts.
func TestRolloutsCountDrains(t *testing.T) {
	t.Parallel()
	observation := healthy(t, 2, 2)
	observation.Nodes[3].Outdated = true
	if rollout := policy.NewRollout(observation); !slices.Equal(rollout.Replace, []int{3}) {
		t.Fatalf("without a drain %v are replaced, want 3", rollout.Replace)
	}
	cordon(observation, 2)
	for _, i := range policy.NewDrains(observation).LetGo {
		letGo(&observation.Nodes[i])
	}
	if rollout := policy.NewRollout(observation); len(rollout.Replace) > 0 {
		t.Errorf("%v are replaced while 2 may be evicted", rollout.Replace)
	}
}

// In whatever state a network is, drains cost it no more than roll-outs may.
func TestDrainsAreSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observation := observations.Draw(t, "observation")
		var cordoned []int
		for i := range observation.Nodes {
			if rapid.Bool().Draw(t, "cordoned") {
				cordoned = append(cordoned, i)
			}
		}
		cordon(observation, cordoned...)
		drains := policy.NewDrains(observation)
		checkReplaced(t, observation, drains.LetGo)
		for _, i := range drains.LetGo {
			node := &observation.Nodes[i]
			if !slices.Contains(cordoned, i) || node.LetGo {
				t.Fatalf("node %d is let go, whose machine is kept, or that was let go before", i)
			}
			if isProducer(node) && observation.ReadyNodes() == 0 {
				t.Fatalf("the producer %d is let go while the chain stands still", i)
			}
		}
		for _, i := range drains.Hold {
			if slices.Contains(cordoned, i) || !observation.Nodes[i].LetGo {
				t.Fatalf("node %d is held, whose machine is drained, or that was not let go", i)
			}
		}
	})
}

// All machines of a network can be drained that is well.
func TestDrainsEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observation := healthyWith(t, rapid.Int32Range(1, 40).Draw(t, "shards"), rapid.Int32Range(1, 4).Draw(t, "producersPerShard"),
			rapid.Int32Range(0, 10).Draw(t, "chunkValidators"))
		if observation.Network.Spec.ProducersPerShard == 1 {
			durable(observation)
		}
		cordon(observation, indices(observation)...)
		for round := 0; ; round++ {
			drains := policy.NewDrains(observation)
			if drains.MachinesKept.Status == metav1.ConditionTrue {
				break
			}
			if len(drains.LetGo) == 0 || round > len(observation.Nodes) {
				t.Fatalf("the drain stands still in round %d: %s", round, drains.MachinesKept.Message)
			}
			checkReplaced(t, observation, drains.LetGo)
			for _, i := range drains.LetGo {
				observation.Nodes[i].Machine.Leaving = ""
			}
		}
	})
}

func indices(observation *policy.Observation) []int {
	found := make([]int, len(observation.Nodes))
	for i := range found {
		found[i] = i
	}
	return found
}

func troublesOfDrains(t *testing.T) []trouble {
	t.Helper()
	kept := func(observation *policy.Observation) metav1.Condition {
		return policy.NewDrains(observation).MachinesKept
	}
	unknown := func(cluster, account string) trouble {
		return ofChain(t, v1alpha1.ReasonMachinesUnknown, kept, func(observation *policy.Observation) {
			observation.UnknownMachines = []policy.UnknownMachines{{Cluster: cluster, Cause: errors.New(
				`nodes is forbidden: User "system:serviceaccount:` + account + `" cannot list resource "nodes" in API group "" at the cluster scope`)}}
		})
	}
	return []trouble{
		ofChain(t, v1alpha1.ReasonDraining, kept, func(observation *policy.Observation) { cordon(observation, 0) }),
		ofChain(t, v1alpha1.ReasonDraining, kept, func(observation *policy.Observation) { cordon(observation, 0, 1) }),
		ofChain(t, v1alpha1.ReasonDrainWaiting, kept, func(observation *policy.Observation) {
			cordon(observation, 2)
			noPod(&observation.Nodes[0])
		}),
		ofChain(t, v1alpha1.ReasonDrainWaiting, kept, func(observation *policy.Observation) {
			cordon(observation, 0)
			halt(observation)
		}),
		unknown("us-east4", "default:shardyard-member"),
		unknown("", "shardyard-system:shardyard"),
	}
}
