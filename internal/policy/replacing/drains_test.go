// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

// letGo is a node that may be evicted.
func letGo(node *observed.Node) { node.LetGo = true }

func TestDrains(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		shards, producers, chunkValidators int32

		change      func(*observed.Network)
		letGo, hold []int
		reason      string
		message     string
	}{
		"no machine is cordoned": {
			2, 2, 0, func(observation *observed.Network) { networks.Cordon(observation) }, nil, nil, v1alpha1.ReasonNothingDrained, "",
		},
		"one machine": {
			2, 2, 0, func(observation *observed.Network) { networks.Cordon(observation, 2) },
			[]int{2},
			nil, v1alpha1.ReasonDraining,
			"quickstart-s1-p0 may be evicted from the machine machine-2, which is cordoned",
		},
		"a machine about to be removed": {
			2, 2, 0, func(observation *observed.Network) {
				networks.Cordon(observation)
				observation.Nodes[1].Machine.Leaving = "has the taint karpenter.sh/disrupted"
			},
			[]int{1},
			nil, v1alpha1.ReasonDraining, "machine-1, which has the taint karpenter.sh/disrupted",
		},
		"all machines, one after the other": {
			2, 2, 0, func(observation *observed.Network) { networks.Cordon(observation, 0, 1, 2, 3) },
			[]int{0},
			nil, v1alpha1.ReasonDraining,
			"machine-0, which is cordoned; the machine machine-1 is cordoned; quickstart-s0-p1 waits for somebody else's copy of shard 0: " +
				"quickstart-s0-p0 goes just now (and 2 more wait)",
		},
		"one of a shard, within what consensus spares": {
			// (16 - 1) / 3 / 2 = 2 nodes may be away.
			8, 2, 0, func(observation *observed.Network) { networks.Cordon(observation, 3, 4, 5, 6) }, []int{3, 4}, nil, v1alpha1.ReasonDraining, "",
		},
		"one that was let go counts until it is back": {
			2, 2, 0, func(observation *observed.Network) {
				networks.Cordon(observation, 0, 2)
				letGo(&observation.Nodes[0])
			},
			nil, nil, v1alpha1.ReasonDraining,
			"quickstart-s0-p0 may be evicted from the machine machine-0, which is cordoned; the machine machine-2 is cordoned; " +
				"quickstart-s1-p0 waits until 4 of 4 producers take part with a complete copy of their shard",
		},
		"one that was evicted counts until it is back": {
			2, 2, 0, func(observation *observed.Network) {
				networks.Cordon(observation, 2)
				networks.NoPod(&observation.Nodes[0])
			},
			nil, nil, v1alpha1.ReasonDrainWaiting,
			"the machine machine-2 is cordoned; quickstart-s1-p0 waits until 4 of 4 producers take part with a complete copy of their shard",
		},
		"the twin of one that is back without its state": {
			8, 2, 0, func(observation *observed.Network) {
				networks.Cordon(observation, 2)
				networks.Incomplete(&observation.Nodes[3])
			},
			nil, nil, v1alpha1.ReasonDrainWaiting, "quickstart-s1-p0 waits for somebody else's copy of shard 1: quickstart-s1-p1 has no",
		},
		"the twin of one that does not say what it has": {
			8, 2, 0, func(observation *observed.Network) {
				networks.Durable(observation)
				networks.Cordon(observation, 2)
				observation.Nodes[3].Status.Copy = nil
			},
			nil, nil, v1alpha1.ReasonDrainWaiting, "quickstart-s1-p1 does not say whether its copy of the shard is complete",
		},
		"the twin of one on a machine that does not answer": {
			8, 2, 0, func(observation *observed.Network) {
				networks.Durable(observation)
				networks.Cordon(observation, 2)
				networks.SilentMachine(&observation.Nodes[3])
			},
			nil, nil, v1alpha1.ReasonDrainWaiting, "quickstart-s1-p1 does not take part",
		},
		"a single producer with a disk": {
			4, 1, 0, func(observation *observed.Network) {
				networks.Durable(observation)
				networks.Cordon(observation, 1)
			},
			[]int{1},
			nil, v1alpha1.ReasonDraining, "",
		},
		"the only copy": {
			4, 1, 0, func(observation *observed.Network) { networks.Cordon(observation, 1) }, nil, nil, v1alpha1.ReasonDrainWaiting,
			"quickstart-s1-p0 has the only copy of shard 1",
		},
		"a node that does not run, with its disk": {
			2, 2, 0, func(observation *observed.Network) {
				networks.Durable(observation)
				networks.Ended(&observation.Nodes[1])
				networks.Cordon(observation, 1)
			},
			[]int{1},
			nil, v1alpha1.ReasonDraining, "",
		},
		"nobody needs leave to evict what never ran": {
			2, 2, 0, func(observation *observed.Network) {
				networks.Cordon(observation, 0, 1)
				networks.Pending(&observation.Nodes[0])
			},
			nil, nil, v1alpha1.ReasonDrainWaiting, "the machine machine-1 is cordoned; quickstart-s0-p1 waits",
		},
		"nobody needs leave to evict what goes already": {
			2, 2, 0,
			func(observation *observed.Network) {
				networks.Cordon(observation, 0)
				networks.Leaving(&observation.Nodes[0])
			},
			nil, nil, v1alpha1.ReasonNothingDrained, "",
		},
		"the machine is kept after all": {
			2, 2, 0, func(observation *observed.Network) {
				networks.Cordon(observation)
				letGo(&observation.Nodes[0])
			},
			nil,
			[]int{0},
			v1alpha1.ReasonNothingDrained, "",
		},
		"nobody else goes while that is not known yet": {
			2, 2, 0, func(observation *observed.Network) {
				networks.Cordon(observation, 2)
				letGo(&observation.Nodes[0])
			},
			nil,
			[]int{0},
			v1alpha1.ReasonDrainWaiting, "",
		},
		"chunk validators go one by one": {
			2, 2, 3, func(observation *observed.Network) { networks.Cordon(observation, 4, 5, 6) },
			[]int{4},
			nil, v1alpha1.ReasonDraining,
			"quickstart-v0 may be evicted from the machine machine-4, which is cordoned; the machine machine-5 is cordoned; " +
				"quickstart-v1 waits until the other chunk validators take part (and 1 more wait)",
		},
		"machines that nobody may look at": {
			2, 2, 0, func(observation *observed.Network) {
				letGo(&observation.Nodes[0])
				observation.UnknownMachines = []observed.UnknownMachines{{Cause: errors.New("nodes is forbidden")}}
			},
			nil, nil, v1alpha1.ReasonDraining, "quickstart-s0-p0 may be evicted from a machine of which nothing is known",
		},
		"in a cluster that cannot be used": {
			2, 2, 0, func(observation *observed.Network) {
				networks.Cordon(observation, 0)
				observation.Nodes[0].Unobserved, observation.Nodes[0].SaysReady = true, true
			},
			nil, nil, v1alpha1.ReasonNothingDrained, "",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.HealthyWith(t, test.shards, test.producers, test.chunkValidators)
			test.change(observation)
			drains := replacing.NewDrains(observation)
			if !slices.Equal(drains.LetGo, test.letGo) || !slices.Equal(drains.Hold, test.hold) {
				t.Errorf("%v are let go and %v held, want %v and %v: %s",
					drains.LetGo, drains.Hold, test.letGo, test.hold, drains.MachinesKept.Message)
			}
			status := metav1.ConditionFalse
			if test.reason == v1alpha1.ReasonNothingDrained {
				status = metav1.ConditionTrue
			}
			networks.CheckCondition(t, drains.MachinesKept, status, test.reason, test.message)
		})
	}
}

// While the chain stands still no producer goes, running or not, with a disk or
// without: nobody knows which of them it needs to go on. Chunk validators it does
// not need.
func TestDrainsWhileTheChainStandsStill(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*observed.Network){
		"nobody takes part":  func(observation *observed.Network) { networks.All(observation, networks.Stopped) },
		"nobody has noticed": networks.Halt,
		"nobody runs":        func(observation *observed.Network) { networks.All(observation, networks.Ended) },
		"one has ended": func(observation *observed.Network) {
			networks.All(observation, networks.Stopped)
			networks.Ended(&observation.Nodes[3])
		},
	} {
		for kind, prepare := range map[string]func(*observed.Network){"disks": networks.Durable, "none": func(*observed.Network) {}} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				observation := networks.HealthyWith(t, 2, 2, 1)
				prepare(observation)
				stop(observation)
				networks.Cordon(observation, 0, 1, 2, 3, 4)
				drains := replacing.NewDrains(observation)
				if !slices.Equal(drains.LetGo, []int{4}) {
					t.Errorf("%v are let go, want the chunk validator alone", drains.LetGo)
				}
				networks.CheckCondition(t, drains.MachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDraining,
					"quickstart-s0-p0 stays while the chain stands still, which may need it to go on (and 3 more wait)")
			})
		}
	}
}

// Of a network that does not answer the operator nobody knows whether it can do
// without anybody.
func TestNobodyIsLetGoUnseen(t *testing.T) {
	t.Parallel()
	observation := networks.HealthyWith(t, 2, 2, 1)
	networks.All(observation, networks.Unanswering)
	networks.Cordon(observation, 0, 1, 2, 3, 4)
	drains := replacing.NewDrains(observation)
	if len(drains.LetGo) > 0 {
		t.Errorf("%v are let go", drains.LetGo)
	}
	networks.CheckCondition(t, drains.MachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting, "(and 4 more wait)")
}

// What is let go in one run, what is replaced in it counts.
func TestRolloutsCountDrains(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	observation.Nodes[3].Outdated = true
	if rollout := replacing.NewRollout(observation); !slices.Equal(rollout.Replace, []int{3}) {
		t.Fatalf("without a drain %v are replaced, want 3", rollout.Replace)
	}
	networks.Cordon(observation, 2)
	for _, i := range replacing.NewDrains(observation).LetGo {
		letGo(&observation.Nodes[i])
	}
	if rollout := replacing.NewRollout(observation); len(rollout.Replace) > 0 {
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
		networks.Cordon(observation, cordoned...)
		drains := replacing.NewDrains(observation)
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
		observation := networks.HealthyWith(t, rapid.Int32Range(1, 40).Draw(t, "shards"), rapid.Int32Range(1, 4).Draw(t, "producersPerShard"),
			rapid.Int32Range(0, 10).Draw(t, "chunkValidators"))
		if observation.Network.Spec.ProducersPerShard == 1 {
			networks.Durable(observation)
		}
		networks.Cordon(observation, indices(observation)...)
		for round := 0; ; round++ {
			drains := replacing.NewDrains(observation)
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

func indices(observation *observed.Network) []int {
	found := make([]int, len(observation.Nodes))
	for i := range found {
		found[i] = i
	}
	return found
}
