// SPDX-License-Identifier: Apache-2.0

package faulting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// actTimeout bounds beginning a fault, and taking it back.
	actTimeout = 10 * time.Second

	// baselinePatience is how much longer than it should a chain may take for the
	// blocks that it is compared by.
	baselinePatience = time.Minute

	// readyPatience is how long validators may take to take part before the fault.
	readyPatience = 30 * time.Second

	// summonPatience is how long whoever begins a fault may take once it is time.
	summonPatience = 2 * time.Minute
)

// Actor has a fault happen.
type Actor interface {
	// Strike begins the fault of validators, of which nodes are told by orders if they keep
	// it. It ends by itself after the duration, should nobody lift it. A RefusedError says that
	// it has not begun.
	Strike(ctx context.Context, validators []string, spec *v1alpha1.FaultSpec, orders []fault.Order) error
	// Lift ends it.
	Lift(ctx context.Context, validators []string) error
}

// RefusedError is why an Actor does not begin a fault: nothing of it has happened.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Options say what to do to which network.
type Options struct {
	Spec *v1alpha1.FaultSpec
	Plan *topology.Plan
	// Scope are the validators that the fault is of.
	Scope []topology.Validator
	// Orders are what nodes are told of a fault that they keep.
	Orders []fault.Order
	// Address is where the HTTP API of a validator is, HOST:PORT.
	Address func(validator string) string
	Actor   Actor
	// Summon tells whoever begins the fault, where that is not the Actor, that it is time:
	// the fault begins when one of the validators is seen to be gone. What it returns
	// tells them that it is no longer.
	Summon func() (dismiss func())
	// Progress says what happens.
	Progress func(format string, args ...any)
}

// session is one fault.
type session struct {
	*Options

	watch  *watch
	names  []string
	judged fault.Case
	status v1alpha1.FaultStatus
}

// Run has a fault happen and measures what comes of it. The fault is over when it
// returns. The error is about what kept it from being measured.
func Run(ctx context.Context, options *Options) (*v1alpha1.FaultStatus, error) {
	s := &session{Options: options, judged: fault.Case{Plan: options.Plan, Action: options.Spec.Action, Scope: options.Scope}}
	for i := range options.Scope {
		s.names = append(s.names, options.Scope[i].Name)
	}
	s.watch = startWatch(ctx, options)
	defer s.watch.stop()
	if err := s.before(ctx); err != nil {
		return nil, err
	}
	if err := s.during(ctx); err != nil {
		return nil, err
	}
	if err := s.after(ctx); err != nil {
		return nil, err
	}
	return &s.status, nil
}

// before measures the chain as it is. Validators that do not take part have no
// fault to recover from.
func (s *session) before(ctx context.Context) error {
	var missing []string
	err := until(ctx, readyPatience, func() bool {
		missing = s.missing(ctx)
		return len(missing) == 0
	})
	if errors.Is(err, errLate) {
		return fmt.Errorf("before the fault, not all of the validators take part: %s", strings.Join(missing, ", "))
	}
	if err != nil {
		return err
	}
	duration := time.Duration(s.Spec.BaselineSeconds) * time.Second
	s.Progress("measuring the chain before the fault for %s", duration)
	s.watch.begin()
	err = until(ctx, duration+baselinePatience, func() bool {
		return s.watch.elapsed() >= duration && s.watch.made() >= fault.EnoughBlocks
	})
	if errors.Is(err, errLate) {
		return fmt.Errorf("the chain made %d blocks within %s, which are too few to compare with: %d are enough",
			s.watch.made(), duration+baselinePatience, fault.EnoughBlocks)
	}
	return err
}

// during has the fault happen for its duration.
func (s *session) during(ctx context.Context) (err error) {
	before := s.watch.begin()
	if err := s.summon(ctx); err != nil {
		return err
	}
	duration := time.Duration(s.Spec.DurationSeconds) * time.Second
	s.Progress("%s of %s for %s begins at height %d", s.Spec.Action, strings.Join(s.names, ", "), duration, s.watch.height())
	s.status.StartTime = ptr.To(metav1.Now())
	// Neither is left half-way: who is told to end while a fault begins would not know
	// whether there is one, and taking it back could come before it.
	act := func(do func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
		defer cancel()
		return do(ctx)
	}
	lift := func() error {
		return act(func(ctx context.Context) error { return s.Actor.Lift(ctx, s.names) })
	}
	strike := func(ctx context.Context) error { return s.Actor.Strike(ctx, s.names, s.Spec, s.Orders) }
	begun := time.Now()
	if err := act(strike); err != nil {
		// What failed half-way is taken back. What was refused is not: the validators may have a
		// fault of somebody else's.
		if _, refused := errors.AsType[*RefusedError](err); refused {
			return err
		}
		return errors.Join(err, lift())
	}
	// Each has the fault until its own clock says that it is over: all have it until the first
	// had it for its duration, and nobody has it once the last did.
	firstOver, lastOver := begun.Add(duration), time.Now().Add(duration)
	if time.Now().After(firstOver) {
		return errors.Join(fmt.Errorf("the fault was to last %s, and not all validators had it by then", duration), lift())
	}
	if s.Spec.Action != v1alpha1.FaultActionKill {
		// What is seen before all have it is of no period, but for restarts. Those that are
		// killed are gone at once, and may be back before the last one is.
		s.watch.keepRestarts(s.watch.begin())
	}
	waited := wait(ctx, time.Until(firstOver))
	during := s.watch.begin()
	if waited == nil {
		waited = wait(ctx, time.Until(lastOver))
	}
	s.status.EndTime = ptr.To(metav1.Now())
	if err := errors.Join(waited, lift()); err != nil {
		return err
	}
	s.Progress("the fault is over at height %d", during.to)
	if s.judged.Before, err = s.watch.seen(ctx, before); err != nil {
		return err
	}
	if s.judged.During, err = s.watch.seen(ctx, during); err != nil {
		return err
	}
	s.status.Validators = s.judged.Validators()
	s.status.Felt = s.judged.Felt(s.judged.During)
	s.status.Windows = append(s.status.Windows,
		s.judged.Window(v1alpha1.FaultBefore, s.judged.Before), s.judged.Window(v1alpha1.FaultDuring, s.judged.During))
	s.conclude(s.judged.Effective())
	return nil
}

// summon waits until somebody else begins the fault. What is seen meanwhile is of no
// period, but for the restart that it may have begun with.
func (s *session) summon(ctx context.Context) error {
	if s.Summon == nil {
		return nil
	}
	s.Progress("waiting for %s of %s", s.Spec.Action, strings.Join(s.names, ", "))
	dismiss := s.Summon()
	defer dismiss()
	err := until(ctx, summonPatience, func() bool { return s.watch.gone(s.names) })
	if errors.Is(err, errLate) {
		return fmt.Errorf("nobody was seen to begin the fault within %s", summonPatience)
	}
	s.watch.keepRestarts(s.watch.begin())
	return err
}

// after waits until all of the validators take part again and the chain is as before.
func (s *session) after(ctx context.Context) error {
	patience := time.Duration(s.Spec.RecoverySeconds) * time.Second
	ended := s.status.EndTime.Time
	left := func() time.Duration { return max(patience-time.Since(ended), 0) }

	var missing []string
	err := until(ctx, left(), func() bool {
		missing = s.missing(ctx)
		return len(missing) == 0
	})
	if errors.Is(err, errLate) {
		s.conclude(s.judged.Recovered(nil, missing))
		return nil
	}
	if err != nil {
		return err
	}
	recovered := time.Since(ended)
	s.status.RecoveryMilliseconds = ptr.To(recovered.Milliseconds())
	s.Progress("all of the validators take part again after %.1f s", recovered.Seconds())

	return s.compare(ctx, left)
}

// compare looks at the chain anew until it is as before, or there is no time left.
func (s *session) compare(ctx context.Context, left func() time.Duration) error {
	var seen *fault.Sighting
	s.watch.begin()
	for {
		err := until(ctx, left(), func() bool { return s.watch.made() >= fault.EnoughBlocks })
		late := errors.Is(err, errLate)
		if err != nil && !late {
			return err
		}
		newest, err := s.watch.seen(ctx, s.watch.begin())
		if err != nil {
			return err
		}
		// A beginning that time cuts short says less than what was seen before it.
		if seen == nil || !late {
			seen = newest
		}
		condition := s.judged.Recovered(seen, nil)
		if late || condition.Status == metav1.ConditionTrue {
			s.status.Windows = append(s.status.Windows, s.judged.Window(v1alpha1.FaultAfter, seen))
			s.conclude(condition)
			return nil
		}
	}
}

// conclude keeps a condition.
func (s *session) conclude(condition metav1.Condition) {
	condition.LastTransitionTime = metav1.Now()
	s.status.Conditions = append(s.status.Conditions, condition)
}

// missing are the validators in scope that do not take part, and why.
func (s *session) missing(ctx context.Context) []string {
	reasons := make([]string, len(s.names))
	var asked sync.WaitGroup
	for i, name := range s.names {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, askTimeout)
			defer cancel()
			client := chain.NewClient(s.Address(name), chain.Admin{})
			defer client.Close()
			switch readiness, err := client.Readiness(ctx); {
			case err != nil:
				reasons[i] = name + " does not answer"
			case !readiness.Ready:
				reasons[i] = fmt.Sprintf("%s: %s", name, strings.Join(readiness.Reasons, ", "))
			}
		})
	}
	asked.Wait()
	var missing []string
	for _, reason := range reasons {
		if reason != "" {
			missing = append(missing, reason)
		}
	}
	return missing
}

var (
	errLate = errors.New("it took too long")
	// errInterrupted says that somebody did not want to wait.
	errInterrupted = errors.New("interrupted before the fault was measured")
)

// wait waits for some time.
func wait(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return errInterrupted
	case <-timer.C:
		return nil
	}
}

// until waits for a condition, for some time at most.
func until(ctx context.Context, patience time.Duration, condition func() bool) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	ticker := time.NewTicker(askInterval)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return errInterrupted
		case <-timer.C:
			return errLate
		case <-ticker.C:
		}
	}
	return nil
}
