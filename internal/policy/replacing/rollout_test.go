// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

type rolloutCase struct {
	shards, producers int32
	change            func(*observed.Network)
	want              []int
	reason            string
	// message is a part of the condition's.
	message string
}

// goes is a case in which nodes are replaced.
func goes(shards, producers int32, change func(*observed.Network), nodes ...int) rolloutCase {
	return rolloutCase{shards, producers, change, nodes, v1alpha1.ReasonUpdating, ""}
}

// stays is a case in which none is, and the message says what for.
func stays(shards, producers int32, change func(*observed.Network), message string) rolloutCase {
	return rolloutCase{shards, producers, change, nil, v1alpha1.ReasonWaiting, message}
}

func (c *rolloutCase) check(t *testing.T) {
	t.Helper()
	observation := networks.Healthy(t, c.shards, c.producers)
	c.change(observation)
	rollout := replacing.NewRollout(observation)
	if !slices.Equal(rollout.Replace, c.want) {
		t.Errorf("%v are replaced, want %v: %s", rollout.Replace, c.want, rollout.Updated.Message)
	}
	status := metav1.ConditionFalse
	switch c.reason {
	case v1alpha1.ReasonUpToDate:
		status = metav1.ConditionTrue
	case v1alpha1.ReasonObjectsPending:
		status = metav1.ConditionUnknown
	}
	networks.CheckCondition(t, rollout.Updated, status, c.reason, c.message)
}

func checkRollouts(t *testing.T, cases map[string]rolloutCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.check(t)
		})
	}
}

func TestRollout(t *testing.T) {
	t.Parallel()
	checkRollouts(t, map[string]rolloutCase{
		"up to date": {
			2, 2, func(*observed.Network) {}, nil, v1alpha1.ReasonUpToDate, "all 4 nodes run what the spec says",
		},
		"settling": {
			2, 2, func(observation *observed.Network) { observation.Settling = true },
			nil, v1alpha1.ReasonUpdating, "taking up the objects",
		},
		"not applied": {
			2, 2, func(observation *observed.Network) { observation.Unapplied = true },
			nil, v1alpha1.ReasonObjectsPending, "see the condition Applied",
		},
		"only what is outdated": {
			2, 2, func(observation *observed.Network) { observation.Nodes[3].Outdated = true },
			[]int{3},
			v1alpha1.ReasonUpdating, "1 of 4",
		},
		"no pod to replace": {
			2, 2, func(observation *observed.Network) {
				observation.Nodes[1].Outdated = true
				networks.NoPod(&observation.Nodes[1])
			},
			nil, v1alpha1.ReasonUpdating, "1 of 4",
		},
		"a node that is leaving goes by itself": {
			2, 2, func(observation *observed.Network) {
				networks.Outdate(observation)
				networks.Leaving(&observation.Nodes[0])
			},
			nil, v1alpha1.ReasonWaiting, "quickstart-s0-p1 waits until quickstart-s0-p0, which was replaced first, is back",
		},
	})
}

// The first node of an update goes alone, and nobody follows before it is back.
func TestCanary(t *testing.T) {
	t.Parallel()
	none := func(*observed.Node) {}
	of140 := func(change func(*observed.Node)) func(*observed.Network) {
		return func(observation *observed.Network) {
			networks.Outdate(observation, 0)
			change(&observation.Nodes[0])
		}
	}
	const waits = "140 nodes run something else than the spec says; quickstart-s0-p1 waits until quickstart-s0-p0, " +
		"which was replaced first, is back"
	checkRollouts(t, map[string]rolloutCase{
		"goes alone": {
			70, 2, func(observation *observed.Network) { networks.Outdate(observation) }, []int{0}, v1alpha1.ReasonUpdating, "140 of 140",
		},
		"one of four": {2, 2, func(observation *observed.Network) { networks.Outdate(observation) }, []int{0}, v1alpha1.ReasonUpdating, "4 of 4"},
		"is leaving": stays(70, 2, func(observation *observed.Network) {
			networks.Outdate(observation)
			networks.Leaving(&observation.Nodes[0])
		}, waits),
		"has no pod": stays(70, 2, of140(func(node *observed.Node) { networks.NoPod(node) }), waits),
		"starts":     stays(70, 2, of140(func(node *observed.Node) { networks.Pending(node) }), waits),
		"runs":       stays(70, 2, of140(networks.Stopped), waits),
		"settles":    stays(70, 2, of140(func(node *observed.Node) { networks.Back(node, 9*time.Second) }), waits),
		"fetches":    stays(70, 2, of140(networks.Incomplete), waits),
		"is far":     stays(70, 2, of140(func(node *observed.Node) { node.Status.FinalizedHeight -= 5 }), waits),
		"is silent":  stays(70, 2, of140(func(node *observed.Node) { node.Status = nil }), waits),
		"has ended":  stays(70, 2, of140(networks.Ended), waits),
		"is back": {
			// (140 - 1) / 3 / 2 = 23 nodes may be away.
			70, 2, of140(none),
			[]int{1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44},
			v1alpha1.ReasonUpdating, "139 of 140",
		},
		"what does not run goes with it": {
			8, 2, func(observation *observed.Network) {
				networks.Outdate(observation)
				networks.Pending(&observation.Nodes[4])
			},
			[]int{0, 4},
			v1alpha1.ReasonUpdating, "",
		},
	})
}

func TestWaves(t *testing.T) {
	t.Parallel()
	checkRollouts(t, map[string]rolloutCase{
		"those that are away count": {
			// (16 - 1) / 3 / 2 = 2 nodes may be away.
			8, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 0, 15)
				networks.NoPod(&observation.Nodes[0])
			},
			[]int{2},
			v1alpha1.ReasonUpdating, "",
		},
		"those that may be evicted count": {
			8, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 0, 15)
				observation.Nodes[0].LetGo = true
			},
			[]int{2},
			v1alpha1.ReasonUpdating, "",
		},
		"whoever may be evicted may go": {
			2, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 3)
				observation.Nodes[1].LetGo = true
			},
			[]int{1},
			v1alpha1.ReasonUpdating, "",
		},
		"one of a shard": {
			8, 2, func(observation *observed.Network) { networks.Outdate(observation, 15) }, []int{0, 2}, v1alpha1.ReasonUpdating, "",
		},
		"as many as the spec says": {
			8, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 15)
				observation.Network.Spec.Update.MaxUnavailable = ptr.To[int32](4)
			},
			[]int{0, 2, 4, 6},
			v1alpha1.ReasonUpdating, "",
		},
		"as few as the spec says": {
			8, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 15)
				observation.Network.Spec.Update.MaxUnavailable = ptr.To[int32](1)
			},
			[]int{0},
			v1alpha1.ReasonUpdating, "",
		},
		"never more than consensus can do without": {
			8, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 15)
				observation.Network.Spec.Update.MaxUnavailable = ptr.To[int32](100)
			},
			[]int{0, 2, 4, 6, 8},
			v1alpha1.ReasonUpdating, "",
		},
		"never two of a small network": {
			2, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 3)
				observation.Network.Spec.Update.MaxUnavailable = ptr.To[int32](2)
			},
			[]int{0},
			v1alpha1.ReasonUpdating, "",
		},
		"nodes that still look for each other": {
			2, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 0)
				observation.Nodes[0].Status.Peers = 2
				observation.Nodes[3].Status.Peers = 2
			},
			nil, v1alpha1.ReasonWaiting, "quickstart-s0-p1 waits until all nodes that take part are connected",
		},
		"a node that does not answer is missed by nobody": {
			2, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 0)
				observation.Nodes[3].Status = nil
			},
			[]int{3},
			v1alpha1.ReasonUpdating, "",
		},
		"a node of another shard without a complete copy": stays(2, 2, func(observation *observed.Network) {
			networks.Outdate(observation, 2)
			observation.Network.Status.Update = nil
			observation.Nodes[3].Outdated = false
			networks.Incomplete(&observation.Nodes[2])
		}, "quickstart-s0-p0 waits until 4 of 4 producers take part with a complete copy of their shard"),
		"connections to spare": {
			// Of 16 nodes 5 may be away, so with 4 connections lacking 1 more.
			8, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 15)
				observation.Nodes[3].Status.Peers = 11
			},
			[]int{0},
			v1alpha1.ReasonUpdating, "",
		},
		"a shard waits for its other producer": {
			8, 2, func(observation *observed.Network) {
				observation.Nodes[0].Outdated = true
				networks.Stopped(&observation.Nodes[1])
			},
			nil, v1alpha1.ReasonWaiting, "quickstart-s0-p0 waits for somebody else's copy of shard 0: quickstart-s0-p1 does not take part",
		},
		"a node that is alone in not taking part": {
			2, 2, func(observation *observed.Network) {
				networks.Outdate(observation, 3)
				networks.Stopped(&observation.Nodes[1])
			},
			[]int{1},
			v1alpha1.ReasonUpdating, "",
		},
		"three producers, one at a time": {
			4, 3, func(observation *observed.Network) {
				networks.Outdate(observation, 0, 11)
				networks.Pending(&observation.Nodes[0])
				observation.Network.Spec.Update.MaxUnavailable = ptr.To[int32](3)
			},
			[]int{3, 6},
			v1alpha1.ReasonUpdating, "",
		},
		"three producers, of which two run and do not take part": {
			// (12 - 1) / 3 = 3 nodes may be away.
			4, 3, func(observation *observed.Network) {
				networks.Outdate(observation, 11)
				networks.Stopped(&observation.Nodes[1])
				networks.Stopped(&observation.Nodes[2])
				observation.Network.Spec.Update.MaxUnavailable = ptr.To[int32](2)
			},
			[]int{1},
			v1alpha1.ReasonUpdating, "",
		},
		"three nodes": {
			3, 1, func(observation *observed.Network) { networks.Outdate(observation); networks.Durable(observation) },
			[]int{0},
			v1alpha1.ReasonUpdating, "",
		},
		"one of three nodes is away": {
			3, 1, func(observation *observed.Network) {
				networks.Outdate(observation, 2)
				networks.Durable(observation)
				networks.Stopped(&observation.Nodes[2])
			},
			nil, v1alpha1.ReasonWaiting, "",
		},
	})
}

// A producer goes only while another one of its shard has a copy that can be
// counted on.
func TestCopies(t *testing.T) {
	t.Parallel()
	// The twin of node 2 is 3.
	twin := func(change func(*observed.Node)) func(*observed.Network) {
		return func(observation *observed.Network) {
			networks.Outdate(observation, 0, 1, 3)
			change(&observation.Nodes[3])
		}
	}
	waits := func(why string) string {
		return "1 of 4 nodes run something else than the spec says; quickstart-s1-p0 waits for somebody else's copy of shard 1: " +
			"quickstart-s1-p1 " + why
	}
	cases := map[string]rolloutCase{
		"complete":       goes(2, 2, twin(func(*observed.Node) {}), 2),
		"behind by four": goes(2, 2, twin(func(node *observed.Node) { node.Status.FinalizedHeight -= 4 }), 2),
		"behind by five": stays(2, 2, twin(func(node *observed.Node) { node.Status.FinalizedHeight -= 5 }),
			waits("is at height 1195, the chain at 1200")),
		"incomplete": stays(2, 2, twin(networks.Incomplete), waits("has no complete copy of the shard: "+networks.Lacking)),
		"for no reason": stays(2, 2, twin(func(node *observed.Node) { node.Status.Copy.Complete = false }),
			waits("has no complete copy")),
		"nothing said":     stays(2, 2, twin(func(node *observed.Node) { node.Status.Copy = nil }), waits("does not say whether")),
		"no answer":        stays(2, 2, twin(func(node *observed.Node) { node.Status = nil }), waits("does not answer")),
		"just back":        stays(2, 2, twin(func(node *observed.Node) { networks.Back(node, 9*time.Second) }), waits("has only just begun")),
		"back for a while": goes(2, 2, twin(func(node *observed.Node) { networks.Back(node, 10*time.Second) }), 2),
		"runs":             stays(2, 2, twin(networks.Stopped), waits("does not take part")),
		"gone":             stays(2, 2, twin(func(node *observed.Node) { networks.NoPod(node) }), waits("does not take part")),
		"leaving":          stays(2, 2, twin(networks.Leaving), waits("does not take part")),
		"may be evicted":   stays(2, 2, twin(func(node *observed.Node) { node.LetGo = true }), waits("may go itself")),
		"another genesis":  stays(2, 2, twin(func(node *observed.Node) { node.Status.GenesisHash = "90ab" }), waits("follows another")),
		"one of two others": stays(3, 3, func(observation *observed.Network) {
			networks.Outdate(observation, 1, 2, 8)
			networks.Incomplete(&observation.Nodes[1])
		}, "quickstart-s0-p0 waits until the other producers of shard 0 are back"),
		"none of two others": stays(3, 3, func(observation *observed.Network) {
			networks.Outdate(observation, 1, 2, 3, 4, 5, 6, 7, 8)
			networks.Incomplete(&observation.Nodes[1])
			networks.Incomplete(&observation.Nodes[2])
		}, "quickstart-s0-p1 has no complete copy"),
	}
	// Disks change nothing while the chain moves: they are there again only when
	// their node is.
	for name, test := range cases {
		change := test.change
		test.change = func(observation *observed.Network) { networks.Durable(observation); change(observation) }
		cases[name+", with volumes"] = test
	}
	checkRollouts(t, cases)
}

// What does not run is missed by nobody, but what it holds may be.
func TestRolloutOfNodesThatDoNotRun(t *testing.T) {
	t.Parallel()
	first := func(changes ...func(*observed.Node)) func(*observed.Network) {
		return func(observation *observed.Network) {
			networks.Outdate(observation, 1, 2, 3)
			changes[0](&observation.Nodes[0])
			for _, change := range changes[1:] {
				change(&observation.Nodes[1])
			}
		}
	}
	withVolumes := func(change func(*observed.Network)) func(*observed.Network) {
		return func(observation *observed.Network) { networks.Durable(observation); change(observation) }
	}
	const waits = "quickstart-s0-p0 waits for somebody else's copy of shard 0: quickstart-s0-p1 "
	pull := func(node *observed.Node) { networks.Waiting(node, "ImagePullBackOff", "back-off") }
	running := func(node *observed.Node) {
		// Its container runs and is not started yet.
		networks.Pending(node)
		node.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Started: ptr.To(false),
		}}
	}
	checkRollouts(t, map[string]rolloutCase{
		"never ran":    goes(2, 2, first(func(node *observed.Node) { networks.Pending(node) }, networks.Incomplete), 0),
		"has no image": goes(2, 2, first(pull, networks.Incomplete), 0),
		"was evicted": goes(2, 2, first(func(node *observed.Node) {
			networks.Failed(node, "Evicted", networks.EvictedForDisk)
		}, networks.Incomplete), 0),
		"ended, and its twin is whole": goes(2, 2, first(networks.Ended), 0),
		"ended, and its twin is not": stays(2, 2, first(networks.Ended, networks.Incomplete),
			waits+"has no complete copy of the shard: "+networks.Lacking),
		"starts, and its twin is not": stays(2, 2, first(running, networks.Incomplete), waits),
		"both ended":                  stays(2, 2, first(networks.Ended, networks.Ended), waits+"does not take part"),
		"ended, with a volume":        goes(2, 2, withVolumes(first(networks.Ended, networks.Incomplete)), 0),
		"both ended, with a volume":   goes(2, 2, withVolumes(first(networks.Ended, networks.Ended)), 0),
		"ended, alone": {
			4, 1, first(networks.Ended), nil, v1alpha1.ReasonOnlyCopy, "quickstart-s0-p0 has the only copy of shard 0",
		},
		"never ran, alone": goes(4, 1, first(func(node *observed.Node) { networks.Pending(node) }), 0),
		"ended where the chain is at rest": {
			2, 2, func(observation *observed.Network) {
				networks.Outdate(observation)
				networks.All(observation, networks.Ended)
			},
			nil, v1alpha1.ReasonAwaitingChain,
			"quickstart-s0-p0 stays while the chain stands still: it does not run, but may have the only copy of shard 0",
		},
	})
}

// The single producer of a shard has its only copy.
func TestOnlyCopies(t *testing.T) {
	t.Parallel()
	const message = "4 of 4 nodes run something else than the spec says; quickstart-s0-p0 has the only copy of shard 0, which would be " +
		"lost with its pod: the network has one producer per shard and no spec.volume. To lose it all the same, set " +
		"spec.update.onlyCopies to Discard"
	discard := func(observation *observed.Network) {
		observation.Network.Spec.Update.OnlyCopies = v1alpha1.OnlyCopiesDiscard
	}
	outdated := func(changes ...func(*observed.Network)) func(*observed.Network) {
		return func(observation *observed.Network) {
			networks.Outdate(observation)
			for _, change := range changes {
				change(observation)
			}
		}
	}
	twinAway := func(observation *observed.Network) { networks.NoPod(&observation.Nodes[1]) }
	checkRollouts(t, map[string]rolloutCase{
		"kept":                        {4, 1, outdated(), nil, v1alpha1.ReasonOnlyCopy, message},
		"discarded":                   goes(4, 1, outdated(discard), 0),
		"on a disk":                   goes(4, 1, outdated(networks.Durable), 0),
		"one node":                    {1, 1, outdated(), nil, v1alpha1.ReasonOnlyCopy, ""},
		"one node with a disk":        goes(1, 1, outdated(networks.Durable), 0),
		"of two, nothing is let lost": stays(2, 2, outdated(discard, twinAway), ""),
	})
}

// While the chain stands still, what it needs to go on is in the nodes that run.
func TestRolloutWhileTheChainStandsStill(t *testing.T) {
	t.Parallel()
	still := func(since time.Duration, changes ...func(*observed.Network)) func(*observed.Network) {
		return func(observation *observed.Network) {
			networks.Outdate(observation)
			networks.All(observation, func(node *observed.Node) {
				networks.Stopped(node)
				node.Status.FinalizedTimeMs = networks.Now.Add(-since).UnixMilli()
			})
			for _, change := range changes {
				change(observation)
			}
		}
	}
	one := func(change func(*observed.Node)) func(*observed.Network) {
		return func(observation *observed.Network) {
			observation.Nodes[0].Outdated = false
			change(&observation.Nodes[0])
		}
	}
	const long = time.Minute
	checkRollouts(t, map[string]rolloutCase{
		"without volumes": {
			2, 2, still(long), nil, v1alpha1.ReasonAwaitingChain,
			"quickstart-s0-p0 stays while the chain stands still: it has votes and a copy of shard 0",
		},
		"without volumes, nor answers": {
			2, 2, still(long, func(observation *observed.Network) {
				networks.All(observation, func(node *observed.Node) { node.Status = nil })
			}),
			nil, v1alpha1.ReasonAwaitingChain, "",
		},
		"without volumes, and one never ran": {
			2, 2, still(long, func(observation *observed.Network) { networks.Pending(&observation.Nodes[2]) }),
			[]int{2},
			v1alpha1.ReasonUpdating, "",
		},
		"without volumes, single producers": {4, 1, still(long), nil, v1alpha1.ReasonAwaitingChain, ""},
		"with volumes": {
			// (16 - 1) / 3 / 2 = 2 nodes may be away.
			8, 2, still(long, networks.Durable), []int{0, 2}, v1alpha1.ReasonUpdating, "",
		},
		"with volumes, while one starts": {
			2, 2, still(long, networks.Durable, one(func(node *observed.Node) { networks.Pending(node) })),
			nil, v1alpha1.ReasonWaiting, "quickstart-s0-p1 waits until the nodes run that went before it",
		},
		"with volumes, and one runs": {
			2, 2, still(long, networks.Durable, one(func(*observed.Node) {})), []int{1}, v1alpha1.ReasonUpdating, "",
		},
		"with volumes, for a moment": {
			2, 2, still(14*time.Second, networks.Durable), nil, v1alpha1.ReasonWaiting,
			"quickstart-s0-p0 waits until nodes take part again, or the chain has stood still for a while",
		},
	})
}

// The sequence that once lost a shard: one of two producers is replaced, the
// chain hiccups so that nobody takes part, and the other one must not go because
// the first merely runs.
func TestNobodyFollowsIntoAHiccup(t *testing.T) {
	t.Parallel()
	for _, shards := range []int32{1, 2, 8} {
		observation := networks.Healthy(t, shards, 2)
		networks.Outdate(observation)
		step := func(what string, want ...int) {
			t.Helper()
			rollout := replacing.NewRollout(observation)
			if !slices.Equal(rollout.Replace, want) {
				t.Fatalf("%s: %v are replaced, want %v: %s", what, rollout.Replace, want, rollout.Updated.Message)
			}
			observation.Network.Status.Update = rollout.Update
		}
		first := &observation.Nodes[0]
		records := *first.Status

		step("at first", 0)
		networks.Leaving(first)
		step("it is leaving")
		networks.NoPod(first)
		first.Outdated = false
		step("it has no pod")
		first.Pod = networks.ReadyPod(first.Validator.Name, 0)
		networks.Pending(first)
		step("it starts")
		first.Pod = networks.ReadyPod(first.Validator.Name, 0)
		networks.Stopped(first)
		empty := records
		empty.FinalizedHeight = 0
		empty.Copy = nil
		first.Status = &empty
		step("it runs, and holds nothing")
		networks.All(observation, networks.Stopped)
		step("nobody takes part")
		for i := range observation.Nodes[1:] {
			observation.Nodes[i+1].Pod.Status.Conditions[0].Status = corev1.ConditionTrue
			networks.Back(&observation.Nodes[i+1], time.Second)
		}
		step("the others take part again")
		first.Pod.Status.Conditions[0].Status = corev1.ConditionTrue
		networks.Back(first, time.Second)
		*first.Status = records
		networks.Incomplete(first)
		step("it takes part, and holds nothing yet")
		networks.All(observation, func(node *observed.Node) { networks.Back(node, time.Minute) })
		step("it has settled, and holds nothing yet")
		*first.Status = records
		rollout := replacing.NewRollout(observation)
		if !slices.Contains(rollout.Replace, 1) {
			t.Fatalf("it holds all that its twin does, and nobody follows: %s", rollout.Updated.Message)
		}
	}
}

// Whoever takes over in the middle decides as the one before: what is decided
// depends on what is seen, and on a status that is kept.
func TestRolloutRemembersNothing(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.Outdate(observation, 0)
	networks.Stopped(&observation.Nodes[0])
	first := replacing.NewRollout(observation)
	observation.Network.Status.Update = first.Update
	observation.Now = networks.Now.Add(time.Second)
	for range 3 {
		again := replacing.NewRollout(observation)
		if !slices.Equal(again.Replace, first.Replace) || again.Updated.Message != first.Updated.Message ||
			!again.Update.StartTime.Equal(&first.Update.StartTime) {
			t.Fatalf("the decision is %+v, then %+v", first, again)
		}
		observation.Network.Status.Update = again.Update
	}
}

// Every update comes to an end and says so on its way.
func TestRolloutTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.Outdate(observation)
	var phases []v1alpha1.UpdatePhase
	for range 5 {
		rollout := replacing.NewRollout(observation)
		observation.Network.Status.Update = rollout.Update
		if rollout.Update == nil {
			if !rollout.Complete {
				t.Error("the update is over and not complete")
			}
			phases = append(phases, "")
			break
		}
		phases = append(phases, rollout.Update.Phase)
		if updated := *rollout.Update.NodesUpdated; int(updated) != len(phases)-1 {
			t.Errorf("%d nodes are updated after %d steps", updated, len(phases)-1)
		}
		for _, i := range rollout.Replace {
			observation.Nodes[i].Outdated = false
		}
	}
	const waves = v1alpha1.UpdateWaves
	if !slices.Equal(phases, []v1alpha1.UpdatePhase{v1alpha1.UpdateCanary, waves, waves, waves, ""}) {
		t.Errorf("the phases are %v", phases)
	}
}
