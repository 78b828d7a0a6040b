// SPDX-License-Identifier: Apache-2.0

package archives_test

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/archives"
	"github.com/shardyard/shardyard/internal/chain"
)

var storage = v1alpha1.NodeStorage{SnapshotIntervalBlocks: 100, RetentionBlocks: 1000}

// best is a node to which two shards' headers state height 2000.
func best() *chain.Status {
	return &chain.Status{
		GenesisHash: "6f1c",
		Shards:      []chain.ShardStatus{{Shard: 0, ExecutedHeight: 2000}, {Shard: 1, ExecutedHeight: 2000}},
	}
}

// keeping is an archive with states of these heights, as it sees them itself.
func keeping(name string, heights ...uint64) archives.Archive {
	status := &chain.Status{GenesisHash: "6f1c", Archive: &chain.ArchiveStatus{}}
	for shard, height := range heights {
		status.Archive.Shards = append(status.Archive.Shards, chain.ArchivedStatus{
			Shard: shard, ArchivedHeight: ptr.To(height), BehindBlocks: 2000 - height,
		})
	}
	return archives.Archive{Name: name, Status: status}
}

// silent is an archive that does not answer.
func silent(name string) archives.Archive { return archives.Archive{Name: name} }

// stuck is an archive that ceased to follow the chain when what it has was new.
func stuck(archive archives.Archive) archives.Archive {
	for i := range archive.Status.Archive.Shards {
		archive.Status.Archive.Shards[i].BehindBlocks = 0
	}
	return archive
}

// ahead is an archive that knows of a later block than the node that was asked.
func ahead(archive archives.Archive, blocks uint64) archives.Archive {
	for i := range archive.Status.Archive.Shards {
		archive.Status.Archive.Shards[i].BehindBlocks += blocks
	}
	return archive
}

// elsewhere is an archive of another chain.
func elsewhere(archive archives.Archive) archives.Archive {
	archive.Status.GenesisHash = "c0de"
	return archive
}

// empty is an archive without a state.
func empty(name string) archives.Archive {
	archive := keeping(name, 0, 0)
	for i := range archive.Status.Archive.Shards {
		archive.Status.Archive.Shards[i].ArchivedHeight = nil
	}
	return archive
}

func TestStand(t *testing.T) {
	t.Parallel()
	begun := best()
	begun.Shards[0].ExecutedHeight, begun.Shards[1].ExecutedHeight = 30, 29
	cases := map[string]struct {
		best     *chain.Status
		archives []archives.Archive
		want     archives.Standing
		words    string
	}{
		"all states are new": {
			best(),
			[]archives.Archive{keeping("a0", 1900, 1990)},
			archives.Current,
			"all 2 shards could come back from an archive. The archived state of shard 0 is 100 blocks behind, " +
				"and what follows a state is kept for 1000",
		},
		"half of the time is left": {
			best(),
			[]archives.Archive{keeping("a0", 1450, 1990)},
			archives.Current,
			"all 2 shards could come back from an archive. The archived state of shard 0 is 550 blocks behind, " +
				"and what follows a state is kept for 1000",
		},
		"less than half is": {
			best(),
			[]archives.Archive{keeping("a0", 1990, 1449)},
			archives.Late,
			"shards that could come back from an archive, but not for long: 1. The archived state of shard 1 is 551 blocks " +
				"behind, and what follows a state is kept for 1000",
		},
		"the last block of it": {
			best(),
			[]archives.Archive{keeping("a0", 1990, 1000)},
			archives.Late,
			"shards that could come back from an archive, but not for long: 1. The archived state of shard 1 is 1000 blocks " +
				"behind, and what follows a state is kept for 1000",
		},
		"too late": {
			best(),
			[]archives.Archive{keeping("a0", 998, 999)},
			archives.Unusable,
			"shards that could not come back from an archive: 0, 1. The archived state of shard 0 is 1002 blocks behind, " +
				"and what follows a state is kept for 1000, so that no producer would find its way from there",
		},
		"no state, and the chain is young": {
			begun,
			[]archives.Archive{empty("a0")},
			archives.Current,
			"all 2 shards could come back from an archive. The archived state of shard 0 is 30 blocks behind, " +
				"and what follows a state is kept for 1000",
		},
		"an archive that is stuck": {
			best(),
			[]archives.Archive{stuck(keeping("a0", 900, 1900))},
			archives.Unusable,
			"shards that could not come back from an archive: 0. The archived state of shard 0 is 1100 blocks behind, " +
				"and what follows a state is kept for 1000, so that no producer would find its way from there",
		},
		"an archive that is ahead": {
			best(),
			[]archives.Archive{ahead(keeping("a0", 1450, 1990), 1)},
			archives.Late,
			"shards that could come back from an archive, but not for long: 0. The archived state of shard 0 is 551 blocks " +
				"behind, and what follows a state is kept for 1000",
		},
		"each archive has one": {
			best(),
			[]archives.Archive{keeping("a0", 1990, 7), keeping("a1", 7, 1980)},
			archives.Current,
			"all 2 shards could come back from an archive. The archived state of shard 1 is 20 blocks behind, " +
				"and what follows a state is kept for 1000",
		},
		"one of two answers": {
			best(),
			[]archives.Archive{silent("a0"), keeping("a1", 1990, 1980)},
			archives.Current,
			"all 2 shards could come back from an archive. The archived state of shard 1 is 20 blocks behind, " +
				"and what follows a state is kept for 1000; nothing is known of a0",
		},
		"one of two answers, and it is late": {
			best(),
			[]archives.Archive{keeping("a0", 1200, 1980), silent("a1")},
			archives.Late,
			"shards that could come back from an archive, but not for long: 0. The archived state of shard 0 is 800 blocks " +
				"behind, and what follows a state is kept for 1000; nothing is known of a1",
		},
		"one of two answers, and it has too little": {
			best(),
			[]archives.Archive{keeping("a0", 7, 1980), silent("a1")},
			archives.Unknown,
			"shards that could not come back from the archives that answer: 0; nothing is known of a1",
		},
		"none answers": {
			best(),
			[]archives.Archive{silent("a0"), silent("a1")},
			archives.Unknown,
			"nothing is known of a0, a1, and so not whether every shard could come back from an archive",
		},
		"no node answers": {
			nil,
			[]archives.Archive{silent("a0")},
			archives.Unknown,
			"nothing is known of a0, and so not whether every shard could come back from an archive",
		},
		"one that has just started": {
			best(),
			[]archives.Archive{keeping("a0")},
			archives.Unknown,
			"nothing is known of a0, and so not whether every shard could come back from an archive",
		},
		"a node that tells of no shard": {
			&chain.Status{GenesisHash: "6f1c"},
			[]archives.Archive{keeping("a0", 1990, 1990)},
			archives.Unknown,
			"nothing is known of a0, and so not whether every shard could come back from an archive",
		},
		"one of another chain": {
			best(),
			[]archives.Archive{elsewhere(keeping("a0", 1990, 1990))},
			archives.Unknown,
			"nothing is known of a0, and so not whether every shard could come back from an archive",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standing, words := archives.Stand(storage, test.best, test.archives)
			if standing != test.want || words != test.words {
				t.Errorf("the archives are %s: %q\nwant %s: %q", standing, words, test.want, test.words)
			}
		})
	}
}

// However many shards could not come back, the words stay short.
func TestFewShardsAreNamed(t *testing.T) {
	t.Parallel()
	many := &chain.Status{GenesisHash: "6f1c"}
	for shard := range 70 {
		many.Shards = append(many.Shards, chain.ShardStatus{Shard: shard, ExecutedHeight: 2000})
	}
	_, words := archives.Stand(storage, many, []archives.Archive{keeping("a0", 1, 1)})
	want := "shards that could not come back from an archive: 0, 1, 2, 3, 4, 5, 6, 7 and 62 more. The archived state of " +
		"shard 2 is 2000 blocks behind, and what follows a state is kept for 1000, so that no producer would find its way from there"
	if words != want {
		t.Errorf("the words are %q\nwant %q", words, want)
	}
}
