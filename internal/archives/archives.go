// SPDX-License-Identifier: Apache-2.0

// Package archives says whether the shards of a network could come back from its
// archives, should all of their producers lose their disks, and in which words. It is
// pure: what nodes said goes in.
//
// A shard comes back from the newest state that an archive has of it, and from what
// follows that state, which other nodes keep for so many blocks: the retention. A state
// that is further behind is of no use. One is late that has used up half of what lies
// between the interval of snapshots, at which archives fetch new ones, and the
// retention: it should have been replaced, and still can be.
package archives

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
)

// Standing is how the archives of a network stand to its shards.
type Standing string

const (
	// Current is when every shard could come back, and archives keep up.
	Current Standing = "Current"
	// Late is when every shard could come back, and archives do not keep up.
	Late Standing = "Late"
	// Unusable is when a shard could not come back.
	Unusable Standing = "Unusable"
	// Unknown is when archives do not answer, and those that do have not enough.
	Unknown Standing = "Unknown"
)

// Archive is one archive as it was last seen.
type Archive struct {
	Name string
	// Status is what it says of itself; nil when it does not answer.
	Status *chain.Status
}

// maxShards is how many shards words list.
const maxShards = 8

// Stand says how archives stand to the shards of best, the status of the node that
// knows the highest final block; nil when none answers. Storage is how nodes keep what
// a shard comes back from.
func Stand(storage v1alpha1.NodeStorage, best *chain.Status, archives []Archive) (Standing, string) {
	answering, silent := sorted(best, archives)
	if len(answering) == 0 {
		return Unknown, "nothing is known of " + strings.Join(silent, ", ") +
			", and so not whether every shard could come back from an archive"
	}
	found := survey(storage, best, answering)
	unusable, late := found.thatStand(Unusable), found.thatStand(Late)
	without := ""
	if len(silent) > 0 {
		without = "; nothing is known of " + strings.Join(silent, ", ")
	}
	switch {
	case len(unusable) > 0 && len(silent) > 0:
		return Unknown, fmt.Sprintf("shards that could not come back from the archives that answer: %s; nothing is known of %s",
			list(unusable), strings.Join(silent, ", "))
	case len(unusable) > 0:
		return Unusable, fmt.Sprintf("shards that could not come back from an archive: %s. %s",
			list(unusable), found.furthest(storage)+", so that no producer would find its way from there")
	case len(late) > 0:
		return Late, fmt.Sprintf("shards that could come back from an archive, but not for long: %s. %s",
			list(late), found.furthest(storage)+without)
	default:
		return Current, fmt.Sprintf("all %d shards could come back from an archive. %s",
			len(found), found.furthest(storage)+without)
	}
}

// sorted are the archives that tell of the chain, and the names of the others: a node that
// has just started tells of no shard until it has processed a block.
func sorted(best *chain.Status, archives []Archive) (answering []*chain.ArchiveStatus, silent []string) {
	for _, archive := range archives {
		status := archive.Status
		if best == nil || len(best.Shards) == 0 || status == nil || status.Archive == nil || len(status.Archive.Shards) == 0 ||
			status.GenesisHash != best.GenesisHash {
			silent = append(silent, archive.Name)
			continue
		}
		answering = append(answering, status.Archive)
	}
	return answering, silent
}

// archived is the best that archives have of a shard.
type archived struct {
	shard    int
	behind   uint64
	standing Standing
}

type shards []archived

// survey finds what archives have of every shard.
func survey(storage v1alpha1.NodeStorage, best *chain.Status, answering []*chain.ArchiveStatus) shards {
	var found shards
	for i := range best.Shards {
		shard := &best.Shards[i]
		// Every node has the state of genesis.
		kept := archived{shard: shard.Shard, behind: shard.ExecutedHeight}
		for _, archive := range answering {
			at := slices.IndexFunc(archive.Shards, func(of chain.ArchivedStatus) bool { return of.Shard == shard.Shard })
			if at >= 0 {
				kept.behind = min(kept.behind, distance(shard, &archive.Shards[at]))
			}
		}
		kept.standing = judge(storage, kept.behind)
		found = append(found, kept)
	}
	return found
}

// distance is how far an archived state is below what the shard's newest header states.
// The archive may not know of that header yet, and the node that is asked not of the
// archive's.
func distance(shard *chain.ShardStatus, kept *chain.ArchivedStatus) uint64 {
	height := uint64(0)
	if kept.ArchivedHeight != nil {
		height = *kept.ArchivedHeight
	}
	return max(kept.BehindBlocks, shard.ExecutedHeight-min(shard.ExecutedHeight, height))
}

func judge(storage v1alpha1.NodeStorage, behind uint64) Standing {
	interval, retention := uint64(storage.SnapshotIntervalBlocks), uint64(storage.RetentionBlocks)
	switch {
	case behind > retention:
		return Unusable
	case behind > (interval+retention)/2:
		return Late
	default:
		return Current
	}
}

// thatStand are the shards that stand so.
func (s shards) thatStand(standing Standing) []string {
	var names []string
	for _, kept := range s {
		if kept.standing == standing {
			names = append(names, strconv.Itoa(kept.shard))
		}
	}
	return names
}

// furthest tells of the state that is furthest behind.
func (s shards) furthest(storage v1alpha1.NodeStorage) string {
	most := slices.MaxFunc(s, func(a, b archived) int { return cmp.Compare(a.behind, b.behind) })
	return fmt.Sprintf("The archived state of shard %d is %d blocks behind, and what follows a state is kept for %d",
		most.shard, most.behind, storage.RetentionBlocks)
}

// list names some shards and counts the rest.
func list(names []string) string {
	if len(names) <= maxShards {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxShards], ", "), len(names)-maxShards)
}
