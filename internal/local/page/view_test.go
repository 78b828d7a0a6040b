// SPDX-License-Identifier: Apache-2.0

package page

import (
	"testing"

	"github.com/shardyard/shardyard/internal/archives"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/supervision"
)

func TestValidatorsAreDescribed(t *testing.T) {
	t.Parallel()
	height, pages := uint64(1000), uint32(14)
	live := supervision.State{Starts: 1, PID: 7, Ready: true, WasReady: true}
	at := func(height uint64) *chain.Status { return &chain.Status{FinalizedHeight: height, Peers: 3} }
	producer := at(1200)
	producer.Tracked = &chain.TrackedStatus{ExecutedHeight: 1199}
	producer.Pool.Transactions = 1
	producer.Copy = &chain.CopyStatus{Missing: []string{"executed to block 1180, the chain is at 1200"}}
	syncing := func(status chain.SyncingStatus) *chain.Status { return &chain.Status{Syncing: &status} }

	for name, test := range map[string]struct {
		state  supervision.State
		status *chain.Status
		want   condition
		says   string
	}{
		"ended":           {supervision.State{Reason: "exit status 1"}, nil, conditionDown, "its process ended: exit status 1"},
		"has just begun":  {supervision.State{PID: 7}, nil, conditionStarting, "its process has started, and does not answer yet"},
		"waits for peers": {supervision.State{PID: 7, Reason: "connected to 0 peers"}, at(1200), conditionStarting, "connected to 0 peers"},
		"hangs":           {live, nil, conditionNotReady, "does not answer"},
		"lost its peers": {
			supervision.State{PID: 7, WasReady: true, Reason: "connected to 0 peers"}, at(1200), conditionNotReady, "connected to 0 peers",
		},
		"a little behind": {live, at(1192), conditionLive, "at block 1,192, 3 peers"},
		"behind":          {live, at(1191), conditionBehind, "is at block 1,191, 9 blocks behind the others"},
		"looks for a state": {
			live, syncing(chain.SyncingStatus{NeededHeight: 1}), conditionSyncing,
			"cannot execute block 1 and fetches a later state, which it looks for",
		},
		"has found a state": {
			live, syncing(chain.SyncingStatus{NeededHeight: 1, SnapshotHeight: &height}), conditionSyncing,
			"cannot execute block 1 and fetches a later state, that of block 1,000",
		},
		"fetches a state": {
			live, syncing(chain.SyncingStatus{NeededHeight: 1, SnapshotHeight: &height, PagesFetched: 3, Pages: &pages}), conditionSyncing,
			"cannot execute block 1 and fetches a later state, that of block 1,000: 3 of 14 pages",
		},
		"produces": {
			live, producer, conditionLive, "at block 1,200, 3 peers, executed to 1,199, 1 transaction waiting, " +
				"its copy of the shard is not complete: executed to block 1180, the chain is at 1200",
		},
	} {
		if got, says := describe(test.state, test.status, 1200); got != test.want || says != test.says {
			t.Errorf("one that %s is %s: %q, want %s: %q", name, got, says, test.want, test.says)
		}
	}
}

func TestArchivesAreDescribed(t *testing.T) {
	t.Parallel()
	for standing, want := range map[archives.Standing]condition{
		archives.Current: conditionLive, archives.Late: conditionBehind,
		archives.Unusable: conditionBehind, archives.Unknown: conditionStarting,
	} {
		if got := describeArchive(standing); got != want {
			t.Errorf("one that is %s is %s, want %s", standing, got, want)
		}
	}
}

func TestShardsAreDescribed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shard chain.ShardStatus
		want  condition
		says  string
	}{
		"produces": {
			chain.ShardStatus{ChunkHeight: 97, Transfers: 1200, EndorsedStake: 3, MandatedStake: 4},
			conditionProducing, "1,200 transfers, 0 missed chunks, 75% of the stake endorsed the last chunk",
		},
		"is silent": {
			chain.ShardStatus{ChunkHeight: 96, MissedChunks: 4, BlocksBehind: 9},
			conditionMissing, "no chunk for 4 blocks, 9 blocks behind with its credits, 0 transfers, 4 missed chunks",
		},
		"is congested": {
			chain.ShardStatus{ChunkHeight: 100, BlocksBehind: 5},
			conditionBehind, "5 blocks behind with its credits, 0 transfers, 0 missed chunks",
		},
	} {
		if got := viewShard(test.shard, 100); got.Condition != test.want || got.Says != test.says {
			t.Errorf("one that %s is %s: %q, want %s: %q", name, got.Condition, got.Says, test.want, test.says)
		}
	}
}
