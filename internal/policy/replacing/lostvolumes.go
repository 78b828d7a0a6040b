// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/topology"
)

// LostVolumes is what to do about nodes whose disk is gone.
type LostVolumes struct {
	// Replace is the node that is to get a new disk now, as an index into the
	// observation's: one or none.
	Replace []int
	// Disks are all disks that are gone, by node: what to remember of them, and what
	// becomes of each.
	Disks map[string]observed.LostDisk
}

// lookGap is how long after a look at a disk the next one may be for the time between
// them to count: they come every few seconds, unless the operator is away or cannot look.
const lookGap = time.Minute

// NewDisk is the node that last got a new disk.
type NewDisk struct {
	Name string
	// At is when its claim was deleted.
	At time.Time
}

// NewLostVolumes decides which node gets a new disk, given what was seen of lost disks
// before, the last node that got one, and whether a node is replaced or started again
// just now.
//
// A new disk is empty. So its node has to fetch the state of its shard from somebody,
// and must not begin before all is final that it may have signed. A disk that was gone
// at every look for as long as the spec says, while the chain went on and nothing else,
// is no disk that is about to come back. One node of a network at a time gets a new
// one, and the next one once that is back, or has had as long to be.
//
// An update goes on meanwhile, and may wait for that very node: it keeps the others of
// the shard as long as one of it is away. A node that it has yet to replace is left to
// it, because a pod that is made again runs what the spec says. One that waits for its
// height replaces nobody, and such a pod runs what all ran last: see AsBefore.
func NewLostVolumes(observation *observed.Network, before map[string]observed.LostDisk, last NewDisk, goes bool) LostVolumes {
	turns := newTurns(observation)
	lost := LostVolumes{Disks: map[string]observed.LostDisk{}}
	disturbance := disturbanceOf(observation, turns)
	waitsForHeight := observation.Network.Status.StableRevision != nil && isScheduled(observation, count(observation))
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if node.LostDisk == nil {
			continue
		}
		disk := *node.LostDisk
		disk.Since, disk.Height, disk.Seen = observation.Now, highest(observation), observation.Now
		if earlier, ok := before[node.Validator.Name]; ok && disturbance == "" && follows(&disk, &earlier) {
			disk.Since, disk.Height = earlier.Since, earlier.Height
		}
		q := question{observation, turns, node, &disk, i}
		switch {
		case observation.Network.Spec.Healing.LostVolumes != v1alpha1.LostVolumesReplace:
			disk.Next = "spec.healing.lostVolumes is Report, so it is left alone: " + diagnosis.NewDiskAdvice(observation.Network, node)
		case disturbance != "":
			disk.Next = "it gets a new one later, because something else goes on: " + disturbance
		case node.Outdated && !waitsForHeight:
			disk.Next = "it gets a new one once the update has replaced the node: see the condition Updated"
		case observation.Now.Sub(disk.Since) < lostAfter(observation):
			disk.Next = fmt.Sprintf("it gets a new one if that is still so after %s, from %s on",
				lostAfter(observation), wording.Instant(disk.Since))
		default:
			if disk.Next = cmp.Or(q.turn(last, goes || len(lost.Replace) > 0), q.need()); disk.Next != "" {
				disk.Next = "it gets no new one for now: it " + disk.Next
				break
			}
			disk.Next = "it gets a new one now"
			lost.Replace = []int{i}
		}
		lost.Disks[node.Validator.Name] = disk
	}
	return lost
}

// follows says whether a disk was seen to be gone not long ago as well.
func follows(disk, earlier *observed.LostDisk) bool {
	return disk.Claim == earlier.Claim && disk.Seen.Sub(earlier.Seen) <= lookGap
}

// lostAfter is how long a disk has been gone before there is a new one, and how long
// the node has to come back on that before another one's turn comes.
func lostAfter(observation *observed.Network) time.Duration {
	return time.Duration(observation.Network.Spec.Healing.StuckAfterSeconds) * time.Second
}

// highest is the highest block that any node knows.
func highest(observation *observed.Network) uint64 {
	height := uint64(0)
	for i := range observation.Nodes {
		if status := observation.Nodes[i].Status; status != nil {
			height = max(height, status.Height)
		}
	}
	return height
}

// question is whether a node may get a new disk. Answers say what it does instead.
type question struct {
	observation *observed.Network
	turns       *turns
	node        *observed.Node
	disk        *observed.LostDisk
	index       int
}

// turn is what the node waits for that has nothing to do with its disk.
func (q *question) turn(last NewDisk, taken bool) string {
	if taken {
		return "waits for another node, whose turn it is"
	}
	at := slices.IndexFunc(q.observation.Nodes, func(node observed.Node) bool { return node.Validator.Name == last.Name })
	if at >= 0 && q.observation.Now.Before(last.At.Add(lostAfter(q.observation))) &&
		!q.observation.Back(&q.observation.Nodes[at], q.turns.best) {
		return fmt.Sprintf("waits until %s is back, which got a new disk, or its time is over", last.Name)
	}
	return ""
}

// need is what the node would need that an empty disk has not: that all is final that
// it may have signed, and what it keeps on the disk from somebody else.
func (q *question) need() string {
	// It may have signed what nobody else had heard of when its disk was first missed.
	if final := q.disk.Height + observed.MaxCopyLag; q.turns.best.FinalizedHeight < final {
		return fmt.Sprintf("may have signed blocks that are not final, and waits until height %d is", final)
	}
	switch q.node.Validator.Role {
	case topology.RoleArchive:
		if shard, without := q.turns.shardWithoutCopy(); without {
			return fmt.Sprintf("waits until a producer of shard %d takes part with a complete copy, to fetch its state from", shard)
		}
	case topology.RoleProducer:
		if q.turns.single {
			return q.single()
		}
		return q.turns.waitForCopy(q.index).words
	case topology.RoleChunkValidator, topology.RoleRPC:
		// They keep no state.
	}
	return ""
}

// single is what the only producer of a shard waits for: nobody but an archive has
// what was on its disk.
func (q *question) single() string {
	shard := q.node.Validator.Shard
	if slices.ContainsFunc(q.observation.Nodes, func(node observed.Node) bool { return archived(&node, q.turns, shard) }) {
		return ""
	}
	if q.observation.Network.Spec.ArchiveNodes > 0 {
		return fmt.Sprintf("waits for an archive that takes part and from which shard %d could come back: "+
			"see the condition StatesArchived", shard)
	}
	return fmt.Sprintf("had the only copy of shard %d: the network has one producer per shard and no archive. "+
		"To go on without that state, %s", shard, diagnosis.NewDiskAdvice(q.observation.Network, q.node))
}

// archived says whether a node is an archive that takes part and from which a shard
// could come back.
func archived(node *observed.Node, turns *turns, shard int) bool {
	if node.Validator.Role != topology.RoleArchive || !node.Ready() || node.LetGo || node.Status == nil ||
		node.Status.Archive == nil || node.Status.GenesisHash != turns.best.GenesisHash {
		return false
	}
	for _, kept := range node.Status.Archive.Shards {
		if kept.Shard == shard {
			return kept.Usable
		}
	}
	return false
}
