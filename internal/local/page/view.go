// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/archives"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/topology"
)

// condition is how something is, in one word.
type condition string

const (
	// conditionLive is of a validator that takes part in the chain.
	conditionLive condition = "Live"
	// conditionBehind is of one whose finalised blocks are old, of an archive whose
	// states are, or of a shard whose credits are.
	conditionBehind condition = "Behind"
	// conditionSyncing is of one that fetches the state of its shard.
	conditionSyncing condition = "Syncing"
	// conditionNotReady is of one that does not take part for another reason.
	conditionNotReady condition = "NotReady"
	// conditionStarting is of one that has not answered yet.
	conditionStarting condition = "Starting"
	// conditionDown is of one that has no process.
	conditionDown condition = "Down"

	// conditionProducing is of a shard whose chunks are in finalised blocks.
	conditionProducing condition = "Producing"
	// conditionMissing is of one whose chunks are missed.
	conditionMissing condition = "Missing"
)

const (
	// behindBlocks is how far a validator may be below the highest finalised block
	// and still be as far as the others. Statuses are not all of one moment.
	behindBlocks = 8

	// missingBlocks is for how many blocks a shard may have no chunk before that is
	// more than one that was left out.
	missingBlocks = 3

	// congestedBlocks is how far behind a shard may be before the others send it
	// nothing more.
	congestedBlocks = 4
)

// view is a network as the page shows it.
type view struct {
	Network               string  `json:"network"`
	GenesisHash           string  `json:"genesisHash"`
	ScrapeIntervalSeconds float64 `json:"scrapeIntervalSeconds"`
	// FinalizedHeight is 0 while no validator answers.
	FinalizedHeight uint64          `json:"finalizedHeight"`
	FinalizedTimeMs int64           `json:"finalizedTimeMs"`
	BlockTimeMs     float64         `json:"blockTimeMs"`
	TPS             float64         `json:"tps"`
	MissedChunks    uint64          `json:"missedChunks"`
	Supply          *chain.Supply   `json:"supply"`
	Shards          []shardView     `json:"shards"`
	Validators      []validatorView `json:"validators"`
}

// shardView is a shard of the highest finalised block.
type shardView struct {
	Shard     int       `json:"shard"`
	Condition condition `json:"condition"`
	// Says is the condition in words.
	Says         string `json:"says"`
	ChunkHeight  uint64 `json:"chunkHeight"`
	MissedChunks uint64 `json:"missedChunks"`
}

// validatorView is a validator and its process.
type validatorView struct {
	Name   string        `json:"name"`
	Region string        `json:"region"`
	Role   topology.Role `json:"role"`
	// Shard is nil for one that tracks no shard.
	Shard     *int      `json:"shard"`
	Condition condition `json:"condition"`
	// Says is the condition in words.
	Says string `json:"says"`
	// Restarts counts the processes that ended.
	Restarts int    `json:"restarts"`
	HTTP     string `json:"http"`
}

// newView shows the validators of a network, whose states are those of a sample.
func newView(network *v1alpha1.ShardNetwork, supervisors []*supervision.Supervisor, sample bench.Sample) *view {
	shown := &view{Network: network.Name, Shards: []shardView{}}
	best := sample.Best()
	if best != nil {
		shown.GenesisHash, shown.MissedChunks, shown.Supply = best.GenesisHash, best.MissedChunks, &best.Supply
		shown.FinalizedHeight, shown.FinalizedTimeMs = best.FinalizedHeight, best.FinalizedTimeMs
		shown.BlockTimeMs, shown.TPS = best.BlockTimeMs, best.TPS
		for _, shard := range best.Shards {
			shown.Shards = append(shown.Shards, viewShard(shard, best.FinalizedHeight))
		}
	}
	for i, supervisor := range supervisors {
		state, status := supervisor.Current(), sample.Nodes[i].Status
		validator := supervisor.Node.Validator
		seen := validatorView{
			Name: validator.Name, Region: validator.Region, Role: validator.Role,
			Restarts: max(state.Starts-1, 0), HTTP: supervisor.Node.HTTP.Address(),
		}
		if validator.Seat != nil {
			seen.Shard = &validator.Shard
		}
		seen.Condition, seen.Says = describe(state, status, shown.FinalizedHeight)
		if validator.Role == topology.RoleArchive && seen.Condition == conditionLive {
			standing, words := archives.Stand(network.Spec.Node.Storage, best, []archives.Archive{{Name: validator.Name, Status: status}})
			seen.Condition, seen.Says = describeArchive(standing), seen.Says+", "+words
		}
		shown.Validators = append(shown.Validators, seen)
	}
	return shown
}

// describe says how a validator is. Its status is nil when it does not answer.
func describe(state supervision.State, status *chain.Status, finalized uint64) (condition, string) {
	switch {
	case state.PID == 0:
		return conditionDown, "its process ended: " + state.Reason
	case status == nil && !state.WasReady:
		return conditionStarting, "its process has started, and does not answer yet"
	case status == nil:
		return conditionNotReady, "does not answer"
	case status.Syncing != nil:
		return conditionSyncing, describeSyncing(status.Syncing)
	case status.FinalizedHeight+behindBlocks < finalized:
		return conditionBehind, fmt.Sprintf("is at block %s, %s behind the others",
			console.Thousands(status.FinalizedHeight), console.Plural(finalized-status.FinalizedHeight, "block"))
	case !state.Ready && state.WasReady:
		return conditionNotReady, state.Reason
	case !state.Ready:
		return conditionStarting, state.Reason
	default:
		return conditionLive, describeLive(status)
	}
}

// describeArchive says how an archive is that takes part.
func describeArchive(standing archives.Standing) condition {
	switch standing {
	case archives.Late, archives.Unusable:
		return conditionBehind
	case archives.Unknown:
		return conditionStarting
	default:
		return conditionLive
	}
}

func describeSyncing(syncing *chain.SyncingStatus) string {
	wanted := fmt.Sprintf("cannot execute block %s and fetches a later state", console.Thousands(syncing.NeededHeight))
	switch {
	case syncing.SnapshotHeight == nil:
		return wanted + ", which it looks for"
	case syncing.Pages == nil:
		return fmt.Sprintf("%s, that of block %s", wanted, console.Thousands(*syncing.SnapshotHeight))
	default:
		return fmt.Sprintf("%s, that of block %s: %d of %s", wanted, console.Thousands(*syncing.SnapshotHeight),
			syncing.PagesFetched, console.Plural(uint64(*syncing.Pages), "page"))
	}
}

func describeLive(status *chain.Status) string {
	says := []string{"at block " + console.Thousands(status.FinalizedHeight), console.Plural(status.Peers, "peer")}
	if status.Tracked != nil {
		says = append(says, "executed to "+console.Thousands(status.Tracked.ExecutedHeight),
			console.Plural(status.Pool.Transactions, "transaction")+" waiting")
	}
	if status.Copy != nil && !status.Copy.Complete {
		says = append(says, "its copy of the shard is not complete: "+strings.Join(status.Copy.Missing, ", "))
	}
	return strings.Join(says, ", ")
}

// viewShard shows what a finalised block says about a shard.
func viewShard(shard chain.ShardStatus, finalized uint64) shardView {
	shown := shardView{
		Shard: shard.Shard, ChunkHeight: shard.ChunkHeight, MissedChunks: shard.MissedChunks, Condition: conditionProducing,
	}
	says := []string{console.Plural(shard.Transfers, "transfer"), console.Plural(shard.MissedChunks, "missed chunk")}
	if shard.MandatedStake > 0 {
		says = append(says, fmt.Sprintf("%.0f%% of the stake endorsed the last chunk",
			100*float64(shard.EndorsedStake)/float64(shard.MandatedStake)))
	}
	if shard.BlocksBehind > congestedBlocks {
		shown.Condition = conditionBehind
		says = slices.Insert(says, 0, console.Plural(shard.BlocksBehind, "block")+" behind with its credits")
	}
	if shard.ChunkHeight+missingBlocks < finalized {
		shown.Condition = conditionMissing
		says = slices.Insert(says, 0, fmt.Sprintf("no chunk for %s", console.Plural(finalized-shard.ChunkHeight, "block")))
	}
	shown.Says = strings.Join(says, ", ")
	return shown
}
