// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	// Schedule is the load that the network will have, unless a controller finds it.
	Schedule bench.Schedule
	// Steering is the load that the recorder has the network carry; nil when somebody
	// else does.
	Steering *Steering
	// Users send the load that the recorder has them send; nil when producers sign it.
	Users *Users
	// WarmUp and Duration are of the measurement, once the load has reached its last
	// step, or is steady.
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
	// wheel is nil when somebody else steers.
	wheel *wheel
	// crowd is nil when producers sign the load.
	crowd *crowd
	audit *bench.Audit
	// recorder and blocks are nil until the load has begun.
	recorder *record.Recorder
	blocks   *record.Follower
	began    time.Time
	settled  bool
	// base is the finalised height at which the load began.
	base uint64
	// fault is why the run does not count.
	fault string
}

// Record follows a network from before its load until the measurement is complete,
// and returns the record. When the load began and when it reached its last step is
// what the producers say: nobody else need tell the time. The error is about what
// kept it from being recorded; a run that does not count has a record.
func Record(ctx context.Context, options *Options) (*result.Run, error) {
	s := &session{Options: options, nodes: newNodes(options), crowd: newCrowd(options), audit: bench.NewAudit()}
	defer s.nodes.close()
	s.wheel = newWheel(options, s.nodes)
	defer s.wheel.stop(ctx)
	defer s.crowd.stop()
	started := time.Now()
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for !s.done() {
		select {
		case <-ctx.Done():
			return nil, errors.New("interrupted before the measurement was complete")
		case <-ticker.C:
		}
		s.wheel.mark()
		answers := s.nodes.ask(ctx)
		if ctx.Err() != nil {
			// The answers were cut short.
			continue
		}
		if err := s.take(ctx, time.Now(), answers); err != nil {
			return nil, err
		}
		if s.recorder == nil && time.Since(s.wheel.moved(started)) > s.Patience {
			return nil, s.noLoad()
		}
	}
	recorded := s.recorder.Run(s.fault)
	recorded.BeganHeight = s.base
	if s.wheel != nil {
		options.Steering.Load.Conclude(&recorded, options.Validators)
	}
	s.crowd.conclude(&recorded)
	return &recorded, nil
}

// noLoad says why there is nothing to record.
func (s *session) noLoad() error {
	if s.crowd != nil {
		return fmt.Errorf("no user could send anything within %s: %w", s.Patience, s.crowd.unready)
	}
	if s.wheel != nil && s.wheel.stocked.Transfers > 0 {
		return fmt.Errorf("the producers signed %d of %d transfers before the load, and no more within %s: no load was begun",
			s.wheel.stocked.Signed, s.wheel.stocked.Transfers, s.Patience)
	}
	if s.wheel != nil && s.wheel.inUse {
		return fmt.Errorf("the network did not come to rest within %s: not all producers answered at one time that they sign nothing, "+
			"with nothing left in their pools: no load was begun", s.Patience)
	}
	if s.wheel != nil {
		return fmt.Errorf("not all producers answered at one time within %s: no load was begun", s.Patience)
	}
	return fmt.Errorf("no producer signed anything within %s: there was no load to record", s.Patience)
}

// done says whether there is nothing more to record.
func (s *session) done() bool {
	if s.recorder == nil {
		return false
	}
	if s.fault != "" || s.recorder.Complete() && s.crowd.complete(s.blocks.Height()) {
		return true
	}
	if !s.settled {
		return false
	}
	ended, known := s.crowd.ended(time.UnixMilli(s.recorder.LatestMs()))
	overdue := known && time.Since(ended) > standstillPatience
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

// take takes what the nodes answered at a time. The error is that there will be no
// record.
func (s *session) take(ctx context.Context, at time.Time, answers []*chain.Status) error {
	restarted := s.nodes.keep(answers)
	if s.recorder == nil {
		if begun, err := s.begin(ctx, at, answers); err != nil || !begun {
			return err
		}
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
	sample := s.nodes.sample(at, answers)
	s.watch(&sample, answers)
	switch {
	case s.crowd != nil:
		s.attend(&sample, answers)
	case s.wheel != nil && s.wheel.loop != nil:
		s.steer(&sample, answers)
	case s.wheel != nil && s.wheel.count > 0:
		// It has no rate that could be another one.
	default:
		s.follow(&sample, answers)
	}
	s.recorder.Sample(sample)
	if err := s.blocks.Follow(ctx, s.nodes.sources(answers)); err != nil {
		s.blame(err.Error())
	}
	s.recorder.Count(ctx, at, s.nodes.tellers())
	return nil
}

// loaded says whether the load begins: a producer signs one, or the recorder can have
// one signed, or sent.
func (s *session) loaded(ctx context.Context, answers []*chain.Status) (bool, error) {
	switch {
	case s.crowd != nil:
		return s.crowd.free(ctx, s.nodes, answers), nil
	case s.wheel != nil:
		return s.wheel.free(ctx, s.nodes, answers)
	default:
		offered, _ := s.nodes.offered(answers)
		return offered > 0, nil
	}
}

// begin begins the record: with the first load that a producer signs, or by having
// the producers sign one, or users send it.
func (s *session) begin(ctx context.Context, at time.Time, answers []*chain.Status) (bool, error) {
	if loaded, err := s.loaded(ctx, answers); err != nil || !loaded {
		return false, err
	}
	var best *chain.Status
	for _, status := range answers {
		if status != nil && (best == nil || status.FinalizedHeight > best.FinalizedHeight) {
			best = status
		}
	}
	if best == nil {
		return false, nil
	}
	s.began, s.base = at, best.FinalizedHeight
	if count := s.count(answers); count.Transfers > 0 {
		s.recorder, s.settled = record.NewCounted(count, at, best.GenesisHash), true
	} else {
		s.recorder = record.NewUnsettled(at, best.GenesisHash)
	}
	s.blocks = record.NewFollower(s.recorder, s.audit, best.FinalizedHeight)
	if s.wheel != nil {
		s.wheel.begin(ctx, at)
	}
	if s.crowd != nil {
		s.crowd.begin(ctx)
	}
	s.Log.Info("the load began", "height", best.FinalizedHeight)
	return true, nil
}

// count is the fixed count that the load is of, as it begins; none of another load.
func (s *session) count(answers []*chain.Status) record.Count {
	count := record.Count{Limit: s.Duration}
	if s.wheel == nil || s.wheel.count == 0 {
		return count
	}
	count.Transfers = uint64(s.wheel.count)
	for _, status := range answers {
		if status != nil && status.Load != nil {
			count.Refused += status.Load.Rejected
		}
	}
	return count
}

// settle begins the warm-up.
func (s *session) settle(at time.Time, offered float64) {
	s.settled = true
	s.recorder.Settle(at, s.WarmUp, s.Duration)
	s.Log.Info("the load is at its last step", "transfersPerSecond", offered, "warmUp", s.WarmUp, "duration", s.Duration)
}

// steer has the controller see a sample, and what it makes of it in the record. The
// measurement begins once its rate is steady and no validator refuses its share of it.
func (s *session) steer(sample *record.Sample, answers []*chain.Status) {
	sample.OfferedPerSecond = float64(s.wheel.loop.Rate())
	if decision := s.wheel.observe(sample.At, s.nodes, answers); decision != nil {
		sample.OfferedPerSecond, sample.Control = float64(decision.TransfersPerSecond), decision.Row()
		if decision.Steady && !s.settled && s.wheel.driver.Refusal() == nil {
			s.settle(sample.At, sample.OfferedPerSecond)
		}
	}
	if !s.settled && sample.At.Sub(s.began) > s.wheel.loop.MostSettling {
		s.blame(s.wheel.loop.Unsettled(s.wheel.driver.Refusal()))
	}
}

// watch sees that the producers sign what the recorder tells them, if it does.
func (s *session) watch(sample *record.Sample, answers []*chain.Status) {
	if s.wheel == nil {
		return
	}
	if s.wheel.loop == nil && slices.ContainsFunc(answers, func(status *chain.Status) bool { return status != nil }) {
		s.wheel.seen = sample.At
	}
	for _, fault := range []string{s.wheel.fault(sample.At), s.wheel.meddled(s.nodes, answers)} {
		if fault != "" {
			s.blame(fault)
		}
	}
}

// follow follows the load to its last step, and sees that it stays there.
func (s *session) follow(sample *record.Sample, answers []*chain.Status) {
	offered, known := s.nodes.offered(answers)
	sample.OfferedPerSecond = float64(offered)
	settles, fault := s.Schedule.Settles(offered, known, s.settled, sample.At.Sub(s.began), s.Patience)
	if fault != "" {
		s.blame(fault)
	}
	if settles {
		s.settle(sample.At, sample.OfferedPerSecond)
	}
}
