// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

// haltAnswering is a chain that stands still, as the nodes that answer say.
func haltAnswering(observation *observed.Network) {
	networks.All(observation, func(node *observed.Node) {
		if node.Status != nil {
			node.Status.FinalizedTimeMs = networks.Now.Add(-time.Minute).UnixMilli()
		}
	})
}

// atHeight has an update wait for its height that is to replace all nodes.
func atHeight(observation *observed.Network) {
	observation.Wanted = &v1alpha1.NodeRevision{Name: "wanted"}
	observation.Network.Spec.Update.AtHeight = ptr.To[int64](1_000_000)
	networks.All(observation, func(node *observed.Node) { node.Outdated = true })
}

type lostCase struct {
	shards, producers, chunkValidators, rpcNodes, archives int32
	// lost are the nodes whose disk is gone, for so long.
	lost   []int
	since  time.Duration
	change func(*observed.Network)
	last   replacing.NewDisk
	want   []int
	// next is a part of what is said of the first of them.
	next string
}

func TestLostVolumes(t *testing.T) {
	t.Parallel()
	const long = 300 * time.Second
	ofProducer := func(want []int, next string, change func(*observed.Network)) lostCase {
		return lostCase{shards: 2, producers: 2, lost: []int{0}, since: long, change: change, want: want, next: next}
	}
	asItIs := func(*observed.Network) {}
	archived := func(usable bool) func(*observed.Network) {
		return func(observation *observed.Network) {
			observation.Nodes[4].Status.Archive = &chain.ArchiveStatus{Shards: []chain.ArchivedStatus{{Shard: 0, Usable: usable}}}
		}
	}
	for name, test := range map[string]lostCase{
		"long enough": ofProducer([]int{0}, "it gets a new one now", asItIs),
		"not for long enough": {
			shards: 2, producers: 2, lost: []int{0}, since: long - time.Second, change: asItIs,
			next: "it gets a new one if that is still so after 5m0s, from 2026-11-21T11:55:01Z on",
		},
		"of another claim before": ofProducer(nil, "from 2026-11-21T12:00:00Z on", func(observation *observed.Network) {
			observation.Nodes[0].LostDisk.Claim = "another"
		}),
		"by more patience": ofProducer(nil, "after 10m0s", func(observation *observed.Network) {
			observation.Network.Spec.Healing.StuckAfterSeconds = 600
		}),
		"where it is only told": ofProducer(nil, "spec.healing.lostVolumes is Report, so it is left alone: "+
			"kubectl delete pvc data-quickstart-s0-p0-0 and then pod quickstart-s0-p0-0, while another producer of shard 0 runs",
			func(observation *observed.Network) {
				observation.Network.Spec.Healing.LostVolumes = v1alpha1.LostVolumesReport
			}),
		"where nodes are not started again": ofProducer([]int{0}, "", func(observation *observed.Network) {
			observation.Network.Spec.Healing.Mode = v1alpha1.HealingReport
		}),

		// Something else goes on.
		"the chain stands still": ofProducer(nil, "something else goes on: the chain stands still", haltAnswering),
		"nobody answers": ofProducer(nil, "the chain stands still", func(observation *observed.Network) {
			networks.All(observation, networks.Unanswering)
		}),
		"a fault goes on": ofProducer(nil, "the Fault cut-off goes on", func(observation *observed.Network) {
			observation.Occupied = "the Fault cut-off goes on"
		}),
		"machines are drained": ofProducer(nil, "machines are drained", func(observation *observed.Network) {
			observation.Nodes[3].LetGo = true
		}),
		"a drain waits for it": ofProducer([]int{0}, "it gets a new one now", func(observation *observed.Network) {
			networks.Cordon(observation, 1)
		}),

		// Nodes are replaced, and the update may wait for this very one.
		"an update waits for it": ofProducer([]int{0}, "it gets a new one now", func(observation *observed.Network) {
			observation.Nodes[1].Outdated = true
		}),
		"it is all that an update waits for": ofProducer([]int{0}, "it gets a new one now", func(observation *observed.Network) {
			observation.Network.Status.Update = &v1alpha1.UpdateStatus{Phase: v1alpha1.UpdateWaves}
		}),
		"an update is rolled back, but for it": ofProducer([]int{0}, "it gets a new one now", func(observation *observed.Network) {
			observation.Network.Status.Update = &v1alpha1.UpdateStatus{Phase: v1alpha1.UpdateRollingBack}
		}),
		"an update has yet to replace it": ofProducer(nil, "once the update has replaced the node: see the condition Updated",
			func(observation *observed.Network) { observation.Nodes[0].Outdated = true }),

		"an update waits for its height": ofProducer([]int{0}, "it gets a new one now", func(observation *observed.Network) {
			atHeight(observation)
			observation.Network.Status.StableRevision = &v1alpha1.NodeRevision{Name: "before"}
		}),
		"an update waits for its height, and nothing ran before": ofProducer(nil, "once the update has replaced the node",
			func(observation *observed.Network) { atHeight(observation) }),

		// What the node needs from others.
		"the other's copy lacks something": ofProducer(nil,
			"it gets no new one for now: it waits for somebody else's copy of shard 0: quickstart-s0-p1 has no complete copy",
			func(observation *observed.Network) { networks.Incomplete(&observation.Nodes[1]) }),
		"the other does not take part": ofProducer(nil, "quickstart-s0-p1 does not take part", func(observation *observed.Network) {
			networks.Stopped(&observation.Nodes[1])
		}),
		"another shard's copy lacks something": ofProducer([]int{0}, "", func(observation *observed.Network) {
			networks.Incomplete(&observation.Nodes[2])
		}),
		"what it may have signed is not final": ofProducer(nil, "waits until height 104 is", func(observation *observed.Network) {
			networks.All(observation, func(node *observed.Node) {
				if node.Status != nil {
					node.Status.FinalizedHeight = 103
				}
			})
		}),
		"the only producer": {
			shards: 4, producers: 1, lost: []int{0}, since: long, change: asItIs,
			next: "it had the only copy of shard 0: the network has one producer per shard and no archive. " +
				"To go on without that state, kubectl delete pvc data-quickstart-s0-p0-0",
		},
		"the only producer, archived": {
			shards: 4, producers: 1, archives: 1, lost: []int{0}, since: long, change: archived(true), want: []int{0},
		},
		"the only producer, archived too long ago": {
			shards: 4, producers: 1, archives: 1, lost: []int{0}, since: long, change: archived(false),
			next: "it waits for an archive that takes part and from which shard 0 could come back",
		},
		"the only producer, of an archive that says nothing": {
			shards: 4, producers: 1, archives: 1, lost: []int{0}, since: long, change: asItIs, next: "waits for an archive",
		},
		"a chunk validator": {
			shards: 2, producers: 2, chunkValidators: 1, lost: []int{4}, since: long, want: []int{4},
			change: func(observation *observed.Network) { networks.Incomplete(&observation.Nodes[1]) },
		},
		"an rpc node": {shards: 2, producers: 2, rpcNodes: 1, lost: []int{4}, since: long, change: asItIs, want: []int{4}},
		"an archive":  {shards: 2, producers: 2, archives: 1, lost: []int{4}, since: long, change: asItIs, want: []int{4}},
		"an archive of a shard without a copy": {
			shards: 2, producers: 2, archives: 1, lost: []int{4}, since: long,
			change: func(observation *observed.Network) {
				networks.Incomplete(&observation.Nodes[2])
				networks.Incomplete(&observation.Nodes[3])
			},
			next: "it waits until a producer of shard 1 takes part with a complete copy, to fetch its state from",
		},

		// One at a time.
		"two at a time": {shards: 4, producers: 2, lost: []int{0, 2}, since: long, change: asItIs, want: []int{0}},
		"both of a shard": {
			shards: 4, producers: 2, lost: []int{0, 1}, since: long, change: asItIs, next: "quickstart-s0-p1 does not take part",
		},
		"the first has to wait": {
			shards: 4, producers: 2, lost: []int{0, 2}, since: long, want: []int{2},
			change: func(observation *observed.Network) { networks.Incomplete(&observation.Nodes[1]) },
		},
		"the last one is not back": {
			shards: 4, producers: 2, lost: []int{0}, since: long,
			last:   replacing.NewDisk{Name: "quickstart-s1-p0", At: networks.Now.Add(-long + time.Second)},
			change: func(observation *observed.Network) { networks.Incomplete(&observation.Nodes[2]) },
			next:   "it waits until quickstart-s1-p0 is back, which got a new disk, or its time is over",
		},
		"the last one's time is over": {
			shards: 4, producers: 2, lost: []int{0}, since: long, last: replacing.NewDisk{Name: "quickstart-s1-p0", At: networks.Now.Add(-long)},
			change: func(observation *observed.Network) { networks.Incomplete(&observation.Nodes[2]) }, want: []int{0},
		},
		"the last one is back": {
			shards: 4, producers: 2, lost: []int{0}, since: long, last: replacing.NewDisk{Name: "quickstart-s1-p0", At: networks.Now},
			change: asItIs, want: []int{0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.HealthyArchived(t, test.shards, test.producers, test.chunkValidators, test.rpcNodes, test.archives)
			networks.Lose(observation, test.lost...)
			before := networks.LostFor(observation, test.since)
			test.change(observation)
			got := replacing.NewLostVolumes(observation, before, test.last, false)
			if !slices.Equal(got.Replace, test.want) {
				t.Errorf("%v get a new disk, want %v", got.Replace, test.want)
			}
			disk := got.Disks[observation.Nodes[test.lost[0]].Validator.Name]
			if !strings.Contains(disk.Next, test.next) {
				t.Errorf("it is said that %q, want %q", disk.Next, test.next)
			}
			if len(got.Disks) != len(test.lost) {
				t.Errorf("what is remembered is %+v", got.Disks)
			}
			if restarts := replacing.NewLostVolumes(observation, before, test.last, true); len(restarts.Replace) != 0 {
				t.Errorf("%v get a new disk while another is started again", restarts.Replace)
			}
		})
	}
}

// Whatever else goes on has the time begin anew, and with it what has to be final.
func TestLostVolumesWaitAnewAfterAHalt(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.Lose(observation, 0)
	before := networks.LostFor(observation, time.Hour)
	haltAnswering(observation)
	disk := replacing.NewLostVolumes(observation, before, replacing.NewDisk{}, false).Disks["quickstart-s0-p0"]
	if !disk.Since.Equal(networks.Now) || disk.Height != 1201 {
		t.Errorf("after a halt it is gone since %s, when the highest block was %d", disk.Since, disk.Height)
	}
}

// A time in which nobody looked is none in which the disk was gone at every look.
func TestLostVolumesWaitAnewAfterATimeWithoutALook(t *testing.T) {
	t.Parallel()
	for unseen, want := range map[time.Duration]time.Time{time.Minute: networks.Now.Add(-time.Hour), time.Minute + time.Second: networks.Now} {
		observation := networks.Healthy(t, 2, 2)
		networks.Lose(observation, 0)
		before := networks.LostFor(observation, time.Hour)
		disk := before["quickstart-s0-p0"]
		disk.Seen = networks.Now.Add(-unseen)
		before["quickstart-s0-p0"] = disk
		lost := replacing.NewLostVolumes(observation, before, replacing.NewDisk{}, false)
		if since := lost.Disks["quickstart-s0-p0"].Since; !since.Equal(want) || (len(lost.Replace) > 0) == want.Equal(networks.Now) {
			t.Errorf("%s after the last look it is gone since %s, and %v get a new disk", unseen, since, lost.Replace)
		}
	}
}

// In whatever state a network is, nobody gets a new disk whose state nobody else has,
// or before all is final that he may have signed, and one node at a time does.
func TestLostVolumesAreSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observation := observations.Draw(t, "observation")
		var lost []int
		for i := range observation.Nodes {
			node := &observation.Nodes[i]
			node.Outdated, node.LetGo = rapid.IntRange(0, 3).Draw(t, "outdated") == 0, rapid.IntRange(0, 99).Draw(t, "evictable") == 0
			if node.Pod != nil && rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
				lost = append(lost, i)
			}
		}
		networks.Lose(observation, lost...)
		if rapid.IntRange(0, 9).Draw(t, "halted") == 0 {
			haltAnswering(observation)
		}
		since := rapid.SampledFrom([]time.Duration{299 * time.Second, 300 * time.Second}).Draw(t, "since")
		before := networks.LostFor(observation, since)
		restarts := rapid.IntRange(0, 9).Draw(t, "restarts") == 0
		replaced := replacing.NewLostVolumes(observation, before, replacing.NewDisk{}, restarts).Replace
		if len(replaced) > 1 || len(replaced) > 0 && (restarts || since < 300*time.Second) {
			t.Fatalf("%v get a new disk, after %s, while one is started again: %v", replaced, since, restarts)
		}
		for _, i := range replaced {
			if !slices.Contains(lost, i) {
				t.Fatalf("node %d gets a new disk and lost none", i)
			}
			if observation.Nodes[i].Outdated {
				t.Fatalf("node %d gets a new disk, and with it what an update has yet to bring", i)
			}
			checkNewDisk(t, observation, &observation.Nodes[i])
		}
	})
}

// checkNewDisk checks that the chain goes on while a node gets a new disk, and that its
// shard does not depend on what was on the old one.
func checkNewDisk(t *rapid.T, observation *observed.Network, node *observed.Node) {
	best := observation.Best()
	if best == nil || observation.ReadyNodes() == 0 || networks.Now.Sub(time.UnixMilli(best.FinalizedTimeMs)) >= time.Minute {
		t.Fatalf("%s gets a new disk while the chain stands still", node.Validator.Name)
	}
	if isProducer(node) && len(wholeCopies(observation, node.Validator.Shard)) == 0 {
		t.Fatalf("%s gets a new disk, and nobody has a whole copy of its shard", node.Validator.Name)
	}
}
