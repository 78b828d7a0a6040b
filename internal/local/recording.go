// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/local/usage"
)

// recording asks for what the record of a run is made from.
type recording struct {
	recorder *record.Recorder
	blocks   *record.Follower
	usage    usage.Reader
	schedule bench.Schedule
}

// take records a sample of the run, and the blocks that were finalised since the
// last one. The error is a contradiction between what nodes told.
func (r *run) take(ctx context.Context, sample bench.Sample) error {
	taken := record.Sample{At: time.Now(), Host: r.recording.usage.Host()}
	taken.OfferedPerSecond = r.recording.schedule.Rate(taken.At.Sub(r.window.Begin))
	var sources []record.Source
	for i, supervisor := range r.group.supervisors {
		status := sample.Nodes[i].Status
		taken.Nodes = append(taken.Nodes, record.Node{
			Validator: supervisor.node.validator,
			Status:    status,
			Usage:     r.recording.usage.Process(supervisor.current().pid),
		})
		if status != nil {
			sources = append(sources, record.Source{
				Name: supervisor.name(), FinalizedHeight: status.FinalizedHeight, Blocks: supervisor.client,
			})
		}
	}
	r.recording.recorder.Sample(taken)
	return r.recording.blocks.Follow(ctx, sources)
}
