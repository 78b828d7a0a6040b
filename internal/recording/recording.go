// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// sampleInterval is how often the validators are asked.
	sampleInterval = time.Second

	// standstillPatience is how long a chain may take for the block that ends a
	// measurement. One that takes longer stands still.
	standstillPatience = 30 * time.Second
)

// Options say what to record.
type Options struct {
	// Validators are those of the network, and Address is where the HTTP API of one
	// is, HOST:PORT.
	Validators []topology.Validator
	Address    func(validator string) string
	// Schedule is the load that the network will have.
	Schedule bench.Schedule
	// WarmUp and Duration are of the measurement, once the load has reached its last
	// step.
	WarmUp, Duration time.Duration
	// Patience is how long the load may take to begin, and longer than its schedule to
	// reach its last step.
	Patience time.Duration
	Log      *slog.Logger
}

// session is the recording of one run.
type session struct {
	*Options

	nodes nodes
	audit *bench.Audit
	// recorder and blocks are nil until the load has begun.
	recorder *record.Recorder
	blocks   *record.Follower
	began    time.Time
	settled  bool
	// rate is that of the last step of the load.
	rate int64
	// fault is why the run does not count.
	fault string
}

// Record follows a network from before its load until the measurement is complete,
// and returns the record. When the load began and when it reached its last step is
// what the producers say: nobody else need tell the time. The error is about what
// kept it from being recorded; a run that does not count has a record.
func Record(ctx context.Context, options *Options) (*result.Run, error) {
	s := &session{
		Options: options, nodes: newNodes(options), audit: bench.NewAudit(),
		rate: options.Schedule.Rate(options.Schedule.Settled()),
	}
	defer s.nodes.close()
	started := time.Now()
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for !s.done() {
		select {
		case <-ctx.Done():
			return nil, errors.New("interrupted before the measurement was complete")
		case <-ticker.C:
		}
		answers := s.nodes.ask(ctx)
		if ctx.Err() != nil {
			// The answers were cut short.
			continue
		}
		if s.take(ctx, time.Now(), answers); s.recorder == nil && time.Since(started) > s.Patience {
			return nil, fmt.Errorf("no producer signed anything within %s: there was no load to record", s.Patience)
		}
	}
	recorded := s.recorder.Run(s.fault)
	return &recorded, nil
}

// done says whether there is nothing more to record.
func (s *session) done() bool {
	if s.recorder == nil {
		return false
	}
	if s.fault != "" || s.recorder.Complete() {
		return true
	}
	if !s.settled {
		return false
	}
	overdue := time.Now().UnixMilli() > s.recorder.Window().EndMs+standstillPatience.Milliseconds()
	if untold := s.blocks.Untold(); overdue && untold != nil {
		s.blame("not all blocks were told: " + untold.Error())
	}
	return overdue
}

// blame keeps the first fault that there is.
func (s *session) blame(fault string) {
	if s.fault == "" {
		s.Log.Error("the run does not count", "fault", fault)
		s.fault = fault
	}
}

// take takes what the nodes answered at a time.
func (s *session) take(ctx context.Context, at time.Time, answers []*chain.Status) {
	restarted := s.nodes.keep(answers)
	offered, known := s.nodes.offered(answers)
	if s.recorder == nil && !s.begin(at, offered, answers) {
		return
	}
	if restarted != "" {
		s.blame(restarted)
	}
	for _, status := range answers {
		if status == nil {
			continue
		}
		if err := s.audit.Observe(status); err != nil {
			s.blame(err.Error())
		}
	}
	s.follow(at, offered, known)
	s.recorder.Sample(s.nodes.sample(at, offered, answers))
	if err := s.blocks.Follow(ctx, s.nodes.sources(answers)); err != nil {
		s.blame(err.Error())
	}
	s.recorder.Count(ctx, at, s.nodes.tellers())
}

// begin begins the record with the first load that a producer signs.
func (s *session) begin(at time.Time, offered int64, answers []*chain.Status) bool {
	if offered == 0 {
		return false
	}
	var best *chain.Status
	for _, status := range answers {
		if status != nil && (best == nil || status.FinalizedHeight > best.FinalizedHeight) {
			best = status
		}
	}
	if best == nil {
		return false
	}
	s.began = at
	s.recorder = record.NewUnsettled(at, best.GenesisHash)
	s.blocks = record.NewFollower(s.recorder, s.audit, best.FinalizedHeight)
	s.Log.Info("the load began", "height", best.FinalizedHeight, "transfersPerSecond", offered)
	return true
}

// follow follows the load to its last step, and sees that it stays there.
func (s *session) follow(at time.Time, offered int64, known bool) {
	late := at.Sub(s.began) - s.Schedule.Settled()
	switch {
	case s.settled && known && offered != s.rate:
		s.blame(fmt.Sprintf("the producers sign %d transfers per second, and should sign %d", offered, s.rate))
	case s.settled || late < 0:
	case known && offered == s.rate:
		s.settled = true
		s.recorder.Settle(at, s.WarmUp, s.Duration)
		s.Log.Info("the load is at its last step", "transfersPerSecond", offered, "warmUp", s.WarmUp, "duration", s.Duration)
	case late > s.Patience:
		s.blame(fmt.Sprintf("the producers sign %d transfers per second %s after they should sign %d", offered, s.Patience, s.rate))
	}
}
