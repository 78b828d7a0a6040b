// SPDX-License-Identifier: Apache-2.0

package control

import (
	"math"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// State is what the controller is doing.
type State string

// The states of a controller.
const (
	// StateStarting raises the rate until the chain feels it.
	StateStarting State = "Starting"
	// StateFollowing follows the error.
	StateFollowing State = "Following"
	// StateLimited does not raise the rate, because generators do not keep up.
	StateLimited State = "Limited"
	// StateRecovering waits for the chain to come back from too much load.
	StateRecovering State = "Recovering"
	// StatePaused waits for the next block.
	StatePaused State = "Paused"
)

const (
	// delay is how many blocks pass until a block shows what the rate does to it:
	// half of the window, and two until what is signed is executed.
	delay = 3.5

	// closing is in how many blocks the loop is to close. As many as its delay are
	// the usual choice; a chain whose transfers take longer in larger blocks runs away
	// from a loop that is not faster.
	closing = delay / 2

	// leastLag and mostLag bound the lag of a chain: below, it follows its load at
	// once, and above, it sums up what was too much, for all that the loop sees.
	leastLag, mostLag = 1.5, 4 * (closing + delay)

	// startGrowth is how much the rate grows with each target block time until the
	// chain feels it, which it does from feltError on, and when its blocks take
	// feltTimes the shortest.
	startGrowth = 0.1
	feltError   = -0.35
	feltTimes   = 1.4

	// Blocks of less than idleTimes the shortest tell nothing of a load, which then
	// rises by at least climb of ln(rate) with each target block time, and below
	// knownShare of what the chain has carried by startGrowth.
	idleTimes  = 1.1
	climb      = 0.02
	knownShare = 0.8

	// An error above farOff counts haste times as much as what is below: far more
	// than a chain carries only makes its blocks longer and longer.
	farOff = 0.5
	haste  = 3

	// overdueShare is the part of what is due that generators may be too late for,
	// as they are now and then beside a chain that has all of a machine.
	overdueShare = 0.02

	// A chain that feels its load is given no more than lead of ln(rate) above what it
	// executes, or has on average: the rest only waits.
	lead = 0.1

	// A backlog of more than drainShare of what is allowed bounds the rate by what
	// is executed: by as much if it is all that is allowed, and by drain of ln(rate)
	// less with twice that. What waits is the sum of what was too much, so a rate
	// that followed it as it follows the error would swing.
	drain      = 0.3
	drainShare = 0.5

	// An error that goes from swing on one side to the other side shows a chain with
	// a lag that is hidden: from then on it is taken to be slower times as long.
	swing  = 0.2
	slower = 2

	// allowedMissed is the share of chunks that may be missed.
	allowedMissed = 0.1

	// A chain that executes less than collapseShare of what it was given, and has
	// collapseMissed of its chunks missed, or collapseTimes the allowed backlog, is
	// falling over.
	collapseShare  = 0.5
	collapseMissed = 0.25
	collapseTimes  = 2

	// resumeShare is the part of the rate of before that a chain is given when it
	// has come back, ceilingShare the part of the rate at which it fell over that it
	// is not given more than, and ceilingGrowth how fast that is forgotten.
	resumeShare   = 0.5
	ceilingShare  = 0.9
	ceilingGrowth = 0.01

	// pauseTimes is the number of target block times without a block from which on
	// nothing is asked for, and leastPause is at the least so long.
	pauseTimes = 3
	leastPause = 3 * time.Second
)

// Decision is what the controller makes of an observation.
type Decision struct {
	State State
	// TransfersPerSecond is the rate to ask for.
	TransfersPerSecond int64
	// Error is what it follows, between -1 and 1; 0 while nothing is measured.
	Error float64
	// BlockTime, BacklogSeconds and MissedShare are what it saw; zero while
	// nothing is measured.
	BlockTime      time.Duration
	BacklogSeconds float64
	MissedShare    float64
	// Steady says that the rate has been steady for a while.
	Steady bool
}

// Controller finds the rate that a chain carries.
type Controller struct {
	target  time.Duration
	backlog time.Duration
	most    float64

	state   State
	rate    float64
	ceiling float64
	// resume is the rate that a pause or a collapse ended.
	resume float64
	// fastest is the shortest block time of a window so far; 0 before the first.
	fastest time.Duration
	window  window
	// hidden is how many times as long as it shows the lag of the chain is, and peak
	// the largest error since the error was on the other side.
	hidden, peak float64
	given        given
	carried      carried
	history      history
	// bound says that the rate is as high as it may be.
	bound bool
	// error is the last one.
	error float64
	// known says that there is a last error.
	known   bool
	stepped time.Time
	seen    Decision
}

// New makes the controller of a load.
func New(spec *v1alpha1.ClosedLoopLoad) *Controller {
	target := time.Duration(spec.TargetBlockTimeMilliseconds) * time.Millisecond
	return &Controller{
		target:  target,
		backlog: time.Duration(spec.MaxBacklogBlocks) * target,
		most:    float64(spec.MaxTransfersPerSecond),
		state:   StateStarting,
		hidden:  1,
		rate:    float64(spec.InitialTransfersPerSecond),
		ceiling: float64(spec.MaxTransfersPerSecond),
		history: history{span: steadyTimes * target},
	}
}

// Step takes an observation. Times of observations do not run backwards.
func (c *Controller) Step(observation Observation) Decision {
	if c.stepped.IsZero() {
		c.stepped = observation.At
	}
	isNew := c.window.add(observation)
	switch {
	case observation.At.Sub(c.window.last().At) > c.patience():
		c.pause()
	case isNew && c.state == StatePaused:
		c.restart(observation)
	case isNew && c.window.full():
		c.follow(observation)
	}
	c.given.add(observation.At, c.rate, c.memory())
	c.history.add(observation.At, c.rate, c.seen.Error, c.bound)
	return c.decide()
}

// patience is how long no block may be finalised before the load stops.
func (c *Controller) patience() time.Duration {
	return max(pauseTimes*c.target, leastPause)
}

// memory is how long ago the latest executed transfers may have been signed.
func (c *Controller) memory() time.Duration {
	return c.backlog + 2*windowBlocks*c.target
}

func (c *Controller) decide() Decision {
	decision := c.seen
	decision.State = c.state
	decision.TransfersPerSecond = int64(math.Round(c.rate))
	isFollowing := c.state == StateFollowing || c.state == StateLimited
	decision.Steady = isFollowing && c.history.steady()
	return decision
}

func (c *Controller) pause() {
	if c.state == StatePaused {
		return
	}
	if c.rate > 0 {
		c.resume = c.rate
	}
	c.state, c.rate = StatePaused, 0
	c.known = false
}

// restart goes on with half of the rate of before the standstill.
func (c *Controller) restart(observation Observation) {
	c.state = StateStarting
	c.rate = max(1, resumeShare*c.resume)
	c.window = window{seen: []Observation{observation}}
	c.stepped = observation.At
}

// follow takes a window of blocks.
func (c *Controller) follow(observation Observation) {
	// More time than that passes only while nobody looks.
	elapsed := min(observation.At.Sub(c.stepped), c.patience()).Seconds() / c.target.Seconds()
	c.stepped = observation.At
	if elapsed <= 0 {
		return
	}
	c.measure(observation)
	if shortest := max(c.seen.BlockTime, time.Millisecond); c.fastest == 0 || shortest < c.fastest {
		c.fastest = shortest
	}
	c.ceiling = min(c.most, c.ceiling*(1+ceilingGrowth*elapsed))

	executed := c.window.executedPerSecond()
	c.carried.add(executed, elapsed)
	switch {
	case c.state == StateRecovering:
		c.recover(executed)
	case c.collapses(executed):
		c.state, c.resume, c.rate = StateRecovering, executed, 0
		c.ceiling = min(c.ceiling, max(1, ceilingShare*c.given.least()))
		c.known = false
	case c.state == StateStarting && !c.felt():
		// At the bound, there is nothing more that the chain could be made to feel.
		if c.change(startGrowth*elapsed, executed); c.bound {
			c.state = StateFollowing
		}
	default:
		c.steer(elapsed, executed)
	}
}

// measure sees how the chain takes the load.
func (c *Controller) measure(observation Observation) {
	seen := Decision{BlockTime: c.window.blockTime(), MissedShare: c.window.missed()}
	switch executed := c.window.executedPerSecond(); {
	case observation.Pooled == 0:
	case executed > 0:
		seen.BacklogSeconds = float64(observation.Pooled) / executed
	default:
		seen.BacklogSeconds = 2 * c.backlog.Seconds()
	}
	blocks := 1.0
	if seen.BlockTime > 0 {
		blocks = 1 - c.target.Seconds()/seen.BlockTime.Seconds()
	}
	seen.Error = min(1, max(-1, max(blocks, seen.MissedShare/allowedMissed-1)))
	c.seen = seen
}

// felt says that the chain feels its load, or generators do.
func (c *Controller) felt() bool {
	longer := c.seen.BlockTime.Seconds() / c.fastest.Seconds()
	return c.seen.Error > feltError || longer > feltTimes || c.window.overdue() > overdueShare*c.rate*c.window.span().Seconds() ||
		c.seen.BacklogSeconds > drainShare*c.backlog.Seconds()
}

// collapses says that the chain executes little of what it was given, and not
// because it was given little.
func (c *Controller) collapses(executed float64) bool {
	isFarOff := c.seen.MissedShare >= collapseMissed || c.seen.BacklogSeconds > collapseTimes*c.backlog.Seconds()
	return isFarOff && executed < collapseShare*c.given.least()
}

// recover waits until the chain has caught up.
func (c *Controller) recover(executed float64) {
	if c.seen.MissedShare > allowedMissed || c.seen.BacklogSeconds > drainShare*c.backlog.Seconds() {
		return
	}
	c.state = StateStarting
	c.rate = max(1, min(c.ceiling, resumeShare*max(c.resume, executed)))
}

// steer follows the error.
func (c *Controller) steer(elapsed, executed float64) {
	e := c.seen.Error
	lag := c.lag()
	change := (e + (haste-1)*max(0, e-farOff)) * elapsed / lag
	if c.known {
		change += e - c.error
	}
	c.error, c.known = e, true
	c.state = StateFollowing
	// The gain of a chain is its lag less the block that a transfer is in.
	change *= -lag / ((lag - 1) * (closing + delay))
	switch {
	case !c.idles():
		c.settle(e)
	case c.rate < knownShare*c.carried.most:
		change = max(change, startGrowth*elapsed)
	default:
		change = max(change, climb*elapsed)
	}
	if change > 0 && c.window.overdue() > overdueShare*c.rate*c.window.span().Seconds() {
		c.state, c.bound = StateLimited, true
		return
	}
	c.change(change, executed)
}

// idles says that blocks are as short as they get and far from the target: the error
// does not tell how little more the chain would feel.
func (c *Controller) idles() bool {
	return c.seen.Error < feltError && c.seen.BlockTime.Seconds() < idleTimes*c.fastest.Seconds()
}

// settle learns from each swing of the error.
func (c *Controller) settle(e float64) {
	if e*c.peak >= 0 {
		if math.Abs(e) > math.Abs(c.peak) {
			c.peak = e
		}
		return
	}
	if math.Abs(c.peak) > swing {
		c.hidden = min(mostLag, c.hidden*slower)
	}
	c.peak = e
}

// lag is in how many blocks the chain follows a change of its load.
func (c *Controller) lag() float64 {
	return min(mostLag, max(leastLag, c.hidden*c.target.Seconds()/c.fastest.Seconds()))
}

// change changes ln(rate), within the bounds.
func (c *Controller) change(by, executed float64) {
	bound := c.ceiling
	if full := c.seen.BacklogSeconds / c.backlog.Seconds(); executed > 0 && full > drainShare {
		bound = min(bound, executed*math.Exp(drain*(1-full)))
	}
	if executed > 0 && c.seen.Error > feltError {
		bound = min(bound, max(executed, c.carried.mean)*math.Exp(lead))
	}
	rate := c.rate * math.Exp(by)
	c.bound = rate >= bound
	c.rate = max(1, min(rate, bound))
}
