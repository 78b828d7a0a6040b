// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

// yetToCome is a node of which nothing is known since then.
func yetToCome(record *v1alpha1.NodeBehind) {
	record.BehindBlocks, record.FinalizedHeight, record.ExecutedHeight = nil, nil, nil
}

// mended is a node that is behind no more.
func mended(record *v1alpha1.NodeBehind) { record.BehindBlocks = ptr.To[int64](0) }

type healingCase struct {
	shards, producers int32
	change            func(*observed.Network)
	want              []int
	reason            string
	// message is a part of the condition's.
	message string
}

func TestHealing(t *testing.T) {
	t.Parallel()
	due := func(observation *observed.Network) { networks.Behind(observation, 0, 300*time.Second) }
	stays := func(reason, message string, change func(*observed.Network)) healingCase {
		return healingCase{2, 2, change, nil, reason, message}
	}
	goes := func(change func(*observed.Network)) healingCase {
		return healingCase{2, 2, change, []int{0}, v1alpha1.ReasonNodeRestarted, ""}
	}
	cases := map[string]healingCase{
		"nobody is behind": stays(v1alpha1.ReasonAllKeepUp, "", func(*observed.Network) {}),
		"by less than a stall": stays(v1alpha1.ReasonAllKeepUp, "", func(observation *observed.Network) {
			networks.At(&observation.Nodes[0], 1140)
		}),
		"seen for the first time": stays(v1alpha1.ReasonNodeBehind, "quickstart-s0-p0 stands still at height 1139 since 2026-11-21T12:00:00Z, "+
			"61 blocks behind the chain; it is started again if it comes no closer for 5m0s", func(observation *observed.Network) {
			networks.At(&observation.Nodes[0], 1139)
		}),
		"not for long enough": stays(v1alpha1.ReasonNodeBehind, "", func(observation *observed.Network) {
			networks.Behind(observation, 0, 299*time.Second)
		}),
		"for long enough": goes(due),
		"as far as before, further on": goes(func(observation *observed.Network) {
			due(observation)
			observation.Network.Status.NodesBehind[0].FinalizedHeight = ptr.To[int64](700)
			observation.Network.Status.NodesBehind[0].ExecutedHeight = ptr.To[int64](700)
		}),
		"a block closer": stays(v1alpha1.ReasonNodeBehind, "stands still at height 901 since 2026-11-21T12:00:00Z, 299 blocks",
			func(observation *observed.Network) {
				due(observation)
				networks.At(&observation.Nodes[0], 901)
			}),
		"executing alone": goes(func(observation *observed.Network) {
			due(observation)
			observation.Nodes[0].Status.FinalizedHeight = 1200
			observation.Network.Status.NodesBehind[0].BehindBlocks = ptr.To[int64](299)
		}),
		"in what somebody did not ask for": stays(v1alpha1.ReasonNodeBehind, "spec.healing.mode is Report, so it is left alone",
			func(observation *observed.Network) {
				due(observation)
				observation.Network.Spec.Healing.Mode = v1alpha1.HealingReport
			}),
		"by more patience": stays(v1alpha1.ReasonNodeBehind, "for 10m0s", func(observation *observed.Network) {
			due(observation)
			observation.Network.Spec.Healing.StuckAfterSeconds = 600
		}),

		// It is not the node's doing.
		"the chain stands still": stays(v1alpha1.ReasonNotJudged, "the chain stands still", func(observation *observed.Network) {
			due(observation)
			networks.Halt(observation)
		}),
		"nobody takes part": stays(v1alpha1.ReasonNotJudged, "the chain stands still", func(observation *observed.Network) {
			due(observation)
			networks.All(observation, networks.Stopped)
		}),
		"nobody answers": stays(v1alpha1.ReasonNoAnswer, "", func(observation *observed.Network) {
			due(observation)
			networks.All(observation, networks.Unanswering)
		}),
		"nodes are replaced": stays(v1alpha1.ReasonNotJudged, "nodes are replaced", func(observation *observed.Network) {
			due(observation)
			observation.Nodes[3].Outdated = true
		}),
		"the last one is to come back": stays(v1alpha1.ReasonNotJudged, "nodes are replaced", func(observation *observed.Network) {
			due(observation)
			observation.Network.Status.Update = &v1alpha1.UpdateStatus{Phase: v1alpha1.UpdateWaves}
		}),
		"an update was rolled back, and is over": goes(func(observation *observed.Network) {
			due(observation)
			observation.Network.Status.Update = &v1alpha1.UpdateStatus{Phase: v1alpha1.UpdateRolledBack}
		}),
		"objects are taken up": stays(v1alpha1.ReasonNotJudged, "taking up", func(observation *observed.Network) {
			due(observation)
			observation.Settling = true
		}),
		"a machine is drained": stays(v1alpha1.ReasonNotJudged, "machines are drained", func(observation *observed.Network) {
			due(observation)
			networks.Cordon(observation, 3)
			observation.Nodes[3].LetGo = true
		}),
		"a drain waits for it": goes(func(observation *observed.Network) {
			due(observation)
			networks.Cordon(observation, 1)
		}),
		"machines are not known": stays(v1alpha1.ReasonNotJudged, "machines are drained, or", func(observation *observed.Network) {
			due(observation)
			observation.UnknownMachines = []observed.UnknownMachines{{}}
		}),
		"a fault goes on": stays(v1alpha1.ReasonNotJudged, "the Fault cut-off goes on", func(observation *observed.Network) {
			due(observation)
			observation.Occupied = "the Fault cut-off goes on"
		}),

		// It waits for others.
		"it does not answer": stays(v1alpha1.ReasonNodeBehind, "quickstart-s0-p0 does not answer, and was 300 blocks behind the chain at "+
			"2026-11-21T11:55:00Z", func(observation *observed.Network) {
			due(observation)
			networks.Unanswering(&observation.Nodes[0])
		}),
		"it has no block": stays(v1alpha1.ReasonAllKeepUp, "", func(observation *observed.Network) {
			due(observation)
			networks.At(&observation.Nodes[0], 0)
		}),
		"it fetches a state": stays(v1alpha1.ReasonAllKeepUp, "", func(observation *observed.Network) {
			due(observation)
			observation.Nodes[0].Status.Syncing = &chain.SyncingStatus{NeededHeight: 901}
		}),
		"it follows another chain": stays(v1alpha1.ReasonAllKeepUp, "", func(observation *observed.Network) {
			due(observation)
			observation.Nodes[0].Status.GenesisHash = "90ab"
		}),
		"it is in a cluster that cannot be used": stays(v1alpha1.ReasonAllKeepUp, "", func(observation *observed.Network) {
			due(observation)
			observation.Nodes[0].Unobserved, observation.Nodes[0].SaysReady = true, true
		}),
		"it goes already": stays(v1alpha1.ReasonAllKeepUp, "", func(observation *observed.Network) {
			due(observation)
			networks.Leaving(&observation.Nodes[0])
		}),
		"its pod was made since": stays(v1alpha1.ReasonNodeBehind, "since 2026-11-21T12:00:00Z", func(observation *observed.Network) {
			due(observation)
			observation.Nodes[0].Pod.CreationTimestamp = metav1.NewTime(networks.Now.Add(-time.Minute))
		}),
		"it was started since": stays(v1alpha1.ReasonNodeBehind, "since 2026-11-21T12:00:00Z", func(observation *observed.Network) {
			due(observation)
			observation.Nodes[0].Pod.Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{
				StartedAt: metav1.NewTime(networks.Now.Add(-time.Minute)),
			}
		}),

		// The network cannot do without it.
		"the twin lacks something": stays(v1alpha1.ReasonHealingWaits, "300 blocks behind the chain, and is not started again for now: "+
			"it waits for somebody else's copy of shard 0: quickstart-s0-p1 has no complete copy", func(observation *observed.Network) {
			due(observation)
			networks.Incomplete(&observation.Nodes[1])
		}),
		"consensus needs all others": stays(v1alpha1.ReasonHealingWaits, "it waits until 4 of 4 producers take part",
			func(observation *observed.Network) {
				due(observation)
				networks.Stopped(&observation.Nodes[3])
			}),
		"the only copy": {4, 1, func(observation *observed.Network) {
			due(observation)
			observation.Network.Spec.Update.OnlyCopies = v1alpha1.OnlyCopiesDiscard
		}, nil, v1alpha1.ReasonHealingWaits, "it has the only copy of shard 0, which would be lost with its pod"},
		"the only copy, on a disk": {4, 1, func(observation *observed.Network) {
			due(observation)
			networks.Durable(observation)
		}, []int{0}, v1alpha1.ReasonNodeRestarted, ""},
		"it may have signed what is not final": stays(v1alpha1.ReasonHealingWaits, "it has no disk that outlives its pod, and may have signed "+
			"blocks that are not final, up to height 1205", func(observation *observed.Network) {
			due(observation)
			observation.Nodes[0].Status.Height = 1205
		}),
		"it remembers what it signed": goes(func(observation *observed.Network) {
			due(observation)
			networks.Durable(observation)
			observation.Nodes[0].Status.Height = 1205
		}),
		"one at a time": {8, 2, func(observation *observed.Network) {
			due(observation)
			networks.Behind(observation, 2, 300*time.Second)
		}, []int{0}, v1alpha1.ReasonHealingWaits, "quickstart-s1-p0 stands still at height 900 since 2026-11-21T11:55:00Z, " +
			"300 blocks behind the chain, and is not started again for now: it waits until quickstart-s0-p0 keeps up, which was started again, " +
			"or its time is over (and 1 more behind)"},
		"one after the other": {8, 2, func(observation *observed.Network) {
			due(observation)
			networks.Behind(observation, 2, 599*time.Second, networks.StartedAgain(1))
		}, nil, v1alpha1.ReasonHealingWaits, "it waits until quickstart-s1-p0 keeps up"},
		"one that was not mended is not waited for": {8, 2, func(observation *observed.Network) {
			due(observation)
			networks.Behind(observation, 2, 40*time.Minute, networks.StartedAgain(3))
		}, []int{0}, v1alpha1.ReasonHealingGaveUp, "quickstart-s1-p0 stands still"},
		"one that was mended is not waited for": {8, 2, func(observation *observed.Network) {
			due(observation)
			networks.Behind(observation, 2, time.Minute, networks.StartedAgain(1), mended)
			networks.At(&observation.Nodes[2], 1200)
		}, []int{0}, v1alpha1.ReasonNodeRestarted, ""},

		// It was started again before.
		"it has yet to come back": stays(v1alpha1.ReasonNodeRestarted, "quickstart-s0-p0 was started again at 2026-11-21T11:30:00Z, "+
			"time 1 of at most 3 in a row: it has 10m0s from when it is back to come closer to the chain", func(observation *observed.Network) {
			networks.Behind(observation, 0, 30*time.Minute, networks.StartedAgain(1), yetToCome)
			networks.NoPod(&observation.Nodes[0])
		}),
		"it is back, where it was": stays(v1alpha1.ReasonNodeRestarted, "", func(observation *observed.Network) {
			networks.Behind(observation, 0, 30*time.Minute, networks.StartedAgain(1), yetToCome)
		}),
		"twice the time is not over": stays(v1alpha1.ReasonNodeRestarted, "", func(observation *observed.Network) {
			networks.Behind(observation, 0, 599*time.Second, networks.StartedAgain(1))
		}),
		"twice the time is over": goes(func(observation *observed.Network) {
			networks.Behind(observation, 0, 600*time.Second, networks.StartedAgain(1))
		}),
		"four times the time is not over": stays(v1alpha1.ReasonNodeRestarted, "", func(observation *observed.Network) {
			networks.Behind(observation, 0, 1199*time.Second, networks.StartedAgain(2))
		}),
		"four times the time is over": goes(func(observation *observed.Network) {
			networks.Behind(observation, 0, 1200*time.Second, networks.StartedAgain(2))
		}),
		"nothing helps": stays(v1alpha1.ReasonHealingGaveUp, "although it was started again 3 times, the last time at 2026-11-21T11:20:00Z",
			func(observation *observed.Network) {
				networks.Behind(observation, 0, 40*time.Minute, networks.StartedAgain(3))
			}),
		"it keeps up again": stays(v1alpha1.ReasonAllKeepUp, "", func(observation *observed.Network) {
			networks.Behind(observation, 0, time.Minute, networks.StartedAgain(1))
			networks.At(&observation.Nodes[0], 1200)
		}),
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, test.shards, test.producers)
			test.change(observation)
			healing := replacing.NewHealing(observation)
			if !slices.Equal(healing.Restart, test.want) {
				t.Errorf("%v are started again, want %v", healing.Restart, test.want)
			}
			if (healing.Why != "") != (len(test.want) > 0) {
				t.Errorf("it is said why: %q", healing.Why)
			}
			status := metav1.ConditionFalse
			switch test.reason {
			case v1alpha1.ReasonAllKeepUp:
				status = metav1.ConditionTrue
			case v1alpha1.ReasonNotJudged, v1alpha1.ReasonNoAnswer:
				status = metav1.ConditionUnknown
			}
			networks.CheckCondition(t, healing.KeepingUp, status, test.reason, test.message)
		})
	}
}

// What is remembered is where a node was when it last came closer, and how often it
// was started again, for as long as that matters.
func TestNodesBehind(t *testing.T) {
	t.Parallel()
	seen := metav1.NewTime(networks.Now)
	before := metav1.NewTime(networks.Now.Add(-10 * time.Minute))
	here := func(blocks, height int64) v1alpha1.NodeBehind {
		return v1alpha1.NodeBehind{
			Name: "quickstart-s0-p0", SinceTime: seen,
			BehindBlocks: &blocks, FinalizedHeight: &height, ExecutedHeight: &height,
		}
	}
	once := func(record v1alpha1.NodeBehind, restartTime metav1.Time) v1alpha1.NodeBehind {
		record.Restarts, record.RestartTime = 1, restartTime
		return record
	}
	cases := map[string]struct {
		change func(*observed.Network)
		want   []v1alpha1.NodeBehind
	}{
		"who keeps up": {func(*observed.Network) {}, nil},
		"who is seen behind for the first time": {
			func(observation *observed.Network) { networks.At(&observation.Nodes[0], 900) }, []v1alpha1.NodeBehind{here(300, 900)},
		},
		"who comes closer": {func(observation *observed.Network) {
			networks.Behind(observation, 0, 10*time.Minute)
			networks.At(&observation.Nodes[0], 901)
		}, []v1alpha1.NodeBehind{here(299, 901)}},
		"who does not answer": {func(observation *observed.Network) {
			networks.Behind(observation, 0, 10*time.Minute, networks.StartedAgain(1))
			observation.Network.Status.NodesBehind[0].SinceTime = seen
			networks.Unanswering(&observation.Nodes[0])
		}, []v1alpha1.NodeBehind{once(here(300, 900), before)}},
		"who keeps up again": {func(observation *observed.Network) {
			networks.Behind(observation, 0, 10*time.Minute)
			networks.At(&observation.Nodes[0], 1200)
		}, nil},
		"who keeps up again after a start": {func(observation *observed.Network) {
			networks.Behind(observation, 0, 10*time.Minute, networks.StartedAgain(1))
			networks.At(&observation.Nodes[0], 1200)
		}, []v1alpha1.NodeBehind{once(here(0, 1200), before)}},
		"who has kept up for an hour after a start": {func(observation *observed.Network) {
			networks.Behind(observation, 0, time.Hour, networks.StartedAgain(1), mended)
			networks.At(&observation.Nodes[0], 1200)
		}, nil},
		"who is started again": {
			func(observation *observed.Network) { networks.Behind(observation, 0, 5*time.Minute) },
			[]v1alpha1.NodeBehind{once(v1alpha1.NodeBehind{Name: "quickstart-s0-p0", SinceTime: seen}, seen)},
		},
		"who was behind when the chain stopped": {func(observation *observed.Network) {
			networks.Behind(observation, 0, 10*time.Minute)
			networks.Halt(observation)
		}, nil},
		"who was started again when the chain stopped": {func(observation *observed.Network) {
			networks.Behind(observation, 0, 10*time.Minute, networks.StartedAgain(1))
			networks.Halt(observation)
		}, []v1alpha1.NodeBehind{once(v1alpha1.NodeBehind{Name: "quickstart-s0-p0", SinceTime: seen}, before)}},
		"who was started again before an update": {func(observation *observed.Network) {
			networks.Behind(observation, 0, 10*time.Minute, networks.StartedAgain(1))
			networks.Outdate(observation)
		}, nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, 2, 2)
			test.change(observation)
			if got := replacing.NewHealing(observation).Behind; !slices.EqualFunc(got, test.want, sameNodeBehind) {
				t.Errorf("what is remembered is %+v, want %+v", got, test.want)
			}
		})
	}
}

func sameNodeBehind(a, b v1alpha1.NodeBehind) bool {
	same := func(a, b *int64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	return a.Name == b.Name && a.SinceTime.Equal(&b.SinceTime) && same(a.BehindBlocks, b.BehindBlocks) &&
		same(a.FinalizedHeight, b.FinalizedHeight) && same(a.ExecutedHeight, b.ExecutedHeight) &&
		a.Restarts == b.Restarts && a.RestartTime.Equal(&b.RestartTime)
}

// A status has room for so many nodes.
func TestNodesBehindAreBounded(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 100, 2)
	for i := range observation.Nodes[:149] {
		networks.At(&observation.Nodes[i], 900)
	}
	networks.Behind(observation, 149, time.Minute, networks.StartedAgain(1))
	found := replacing.NewHealing(observation).Behind
	if len(found) != 64 || found[0].Name != "quickstart-s0-p0" || found[63].Name != observation.Nodes[149].Validator.Name {
		t.Errorf("%d nodes are remembered, want the first 63, and the one that was started again: %+v", len(found), found)
	}
}

// Whom nothing helps is started again three times within the day, each time after
// twice as long as before.
func TestHealingGivesUp(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	var starts []time.Duration
	for elapsed := time.Duration(0); elapsed < 24*time.Hour; elapsed += 5 * time.Second {
		observation.Now = networks.Now.Add(elapsed)
		networks.All(observation, func(node *observed.Node) {
			node.Status.FinalizedTimeMs = observation.Now.UnixMilli()
			networks.At(node, 1200+uint64(elapsed.Milliseconds()/250))
		})
		networks.At(&observation.Nodes[0], 900)
		healing := replacing.NewHealing(observation)
		if len(healing.Restart) > 0 {
			starts = append(starts, elapsed)
		}
		observation.Network.Status.NodesBehind = healing.Behind
		if over := elapsed > 2*time.Hour; over != (healing.KeepingUp.Reason == v1alpha1.ReasonHealingGaveUp) && (over || len(starts) < 3) {
			t.Fatalf("after %s the reason is %s", elapsed, healing.KeepingUp.Reason)
		}
	}
	// The second and the third time begin once the node is seen again.
	want := []time.Duration{300 * time.Second, 905 * time.Second, 2110 * time.Second}
	if !slices.Equal(starts, want) {
		t.Errorf("it is started again after %v, want %v", starts, want)
	}
}

// In whatever state a network is, healing costs it no more than a roll-out may, and
// one node at a time.
func TestHealingIsSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observation := observations.Draw(t, "observation")
		for i := range observation.Nodes {
			node := &observation.Nodes[i]
			node.Outdated, node.LetGo = false, false
			if node.Status != nil && rapid.IntRange(0, 3).Draw(t, "behind") == 0 {
				networks.Behind(observation, i, 300*time.Second)
			}
		}
		healing := replacing.NewHealing(observation)
		checkReplaced(t, observation, healing.Restart)
		if len(healing.Restart) > 1 {
			t.Fatalf("%v are started again at a time", healing.Restart)
		}
		for _, i := range healing.Restart {
			node := &observation.Nodes[i]
			if node.Status == nil || node.Status.FinalizedHeight != 900 || !node.Running() || observation.ReadyNodes() == 0 {
				t.Fatalf("node %d is started again, which is not behind, does not run, or whose chain stands still", i)
			}
		}
	})
}
