// SPDX-License-Identifier: Apache-2.0

package loading

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// loadTimeout is how long a validator may take to be told its share. One
	// that hangs must not hold up the next step of the others for long.
	loadTimeout = 2 * time.Second

	// retryInterval is how long a validator that did not take its share is
	// left alone.
	retryInterval = time.Second

	// Patience is how long a validator of a run that is recorded may not take its share: one
	// that is started again, or has much to do, takes it a little later.
	Patience = 30 * time.Second
)

// errNotTold is why a node does not sign its share that was not told it yet.
var errNotTold = errors.New("it was not told its load yet")

// Node is a validator that is told its share of a load.
type Node struct {
	Validator topology.Validator
	// Client makes admin requests.
	Client *chain.Client
	// Process is the number of the node's present process, and whether it takes a
	// load. A process that was told nothing signs nothing.
	Process func() (number int, ready bool)
}

// Options say what a driver drives.
type Options struct {
	Nodes []Node
	Load  *Load
	// Told says that somebody else told the nodes a load before: what they sign is not
	// known.
	Told bool
	// Changed tells that a process started, became ready or ended; nil where they do
	// not.
	Changed <-chan struct{}
	// Announce is told each rate that a schedule comes to.
	Announce func(transfersPerSecond int64)
	// Refused is told of a validator that does not take its share, once until it does.
	Refused func(validator string, err error)
}

// Driver lets the producers of a network sign its load. Each is told its share
// once: when the rate changes, and when it is ready after a restart, because it
// then signs nothing.
type Driver struct {
	Options

	validators []topology.Validator
	// applied is what each validator signs; chunk validators, whose share is
	// always 0, are told nothing.
	applied []applied
	told    []atomic.Pointer[int64]
	// ordered is which of them sign transfers before, or have.
	ordered []bool
	refusal atomic.Pointer[Refusal]
}

// applied is the rate that a process of a validator was told. The zero value is
// right for a process that was told nothing.
type applied struct {
	process int
	rate    int64
	// failing is why the last attempts failed; nil if the last one did not.
	failing *Refusal
}

// Refusal is a validator that does not take its share.
type Refusal struct {
	Validator string
	// Since is when it first did not, and Err why it did not last.
	Since time.Time
	Err   error
}

// NewDriver makes a driver that has told nobody anything.
func NewDriver(options Options) *Driver {
	count := len(options.Nodes)
	driver := &Driver{
		Options: options, applied: make([]applied, count), told: make([]atomic.Pointer[int64], count), ordered: make([]bool, count),
	}
	for i := range options.Nodes {
		driver.validators = append(driver.validators, options.Nodes[i].Validator)
		if options.Told && options.Nodes[i].Validator.Role == topology.RoleProducer {
			process, _ := options.Nodes[i].Process()
			driver.applied[i] = applied{process: process, failing: &Refusal{
				Validator: options.Nodes[i].Validator.Name, Since: time.Now(), Err: errNotTold,
			}}
		}
	}
	return driver
}

// Validators are those that it drives.
func (d *Driver) Validators() []topology.Validator { return d.validators }

// Run applies the load from a time on, until the context is done.
func (d *Driver) Run(ctx context.Context, begin time.Time) {
	announced := int64(0)
	for ctx.Err() == nil {
		elapsed := time.Since(begin)
		rate := d.Load.Rate(elapsed)
		if rate != announced && d.Load.Loop == nil {
			d.Announce(rate)
			announced = rate
		}
		complete := d.Apply(ctx, rate)
		d.await(ctx, begin, elapsed, complete)
	}
}

// await waits until there is something to apply: the next step, another rate of a
// controller, to a validator that became ready, or once more where it failed.
func (d *Driver) await(ctx context.Context, begin time.Time, elapsed time.Duration, complete bool) {
	var step, retry <-chan time.Time
	if next, ok := d.Load.next(elapsed); ok {
		timer := time.NewTimer(time.Until(begin.Add(next)))
		defer timer.Stop()
		step = timer.C
	}
	if !complete {
		timer := time.NewTimer(retryInterval)
		defer timer.Stop()
		retry = timer.C
	}
	select {
	case <-ctx.Done():
	case <-step:
	case <-retry:
	case <-d.Changed:
	case <-d.Load.steered():
	}
}

// Apply tells all validators that are ready their shares of a rate. It says
// whether all of them took it.
func (d *Driver) Apply(ctx context.Context, rate int64) bool {
	var told sync.WaitGroup
	for i, share := range d.Load.shares(rate, d.validators) {
		told.Go(func() { d.applyTo(ctx, i, share) })
	}
	told.Wait()

	var longest *Refusal
	for i := range d.applied {
		if failing := d.applied[i].failing; failing != nil && (longest == nil || failing.Since.Before(longest.Since)) {
			longest = failing
		}
	}
	d.refusal.Store(longest)
	return longest == nil
}

// Refusal is the validator that has not taken its share for the longest time; nil
// when all have.
func (d *Driver) Refusal() *Refusal { return d.refusal.Load() }

// Fault is why a run does not count whose load this is: a validator has not taken its share
// for longer than it may. It is empty if all have.
func (d *Driver) Fault(at time.Time) string {
	refusal := d.Refusal()
	if refusal == nil || at.Sub(refusal.Since) <= Patience {
		return ""
	}
	return fmt.Sprintf("validator %s did not take its load for %s: %v",
		refusal.Validator, at.Sub(refusal.Since).Round(time.Second), refusal.Err)
}

// Told is the rate that a validator, by its index, took last; nil while it is told
// one, and before. It is another pointer after each time: as long as it is the same,
// the validator signs that rate, unless somebody else tells it another.
func (d *Driver) Told(index int) *int64 { return d.told[index].Load() }

// applyTo tells one validator its share unless it signs it already.
func (d *Driver) applyTo(ctx context.Context, index int, share int64) {
	node, known := &d.Nodes[index], &d.applied[index]
	process, ready := node.Process()
	if process != known.process {
		*known = applied{process: process}
	}
	if !ready {
		// It is told when it is ready; until then it signs nothing.
		known.failing = nil
		return
	}
	if share == known.rate && known.failing == nil {
		return
	}
	d.told[index].Store(nil)
	err := d.tell(ctx, node, share, d.Load.Signing)
	if err == nil {
		d.told[index].Store(&share)
		known.rate, known.failing = share, nil
		return
	}
	failing := &Refusal{Validator: node.Validator.Name, Since: time.Now(), Err: err}
	if known.failing != nil && !errors.Is(known.failing.Err, errNotTold) {
		failing.Since = known.failing.Since
	} else if ctx.Err() == nil {
		d.Refused(failing.Validator, err)
	}
	known.failing = failing
}

// Stop tells every producer to sign nothing, whatever it was told and whoever told
// it. The error names those that did not take it. No other call may be under way.
func (d *Driver) Stop(ctx context.Context) error {
	failures := make([]error, len(d.Nodes))
	var told sync.WaitGroup
	for i := range d.Nodes {
		node := &d.Nodes[i]
		if node.Validator.Role != topology.RoleProducer {
			continue
		}
		told.Go(func() {
			// What it may have signed before, nobody will ask for.
			if err := d.tell(ctx, node, 0, ""); err != nil {
				failures[i] = fmt.Errorf("validator %s: %w", node.Validator.Name, err)
			}
		})
	}
	told.Wait()
	return errors.Join(failures...)
}

// tell tells a validator its share, also for somebody who ends that meanwhile: a request
// that is cut short may arrive after the next one, which has the node sign something else.
func (d *Driver) tell(ctx context.Context, node *Node, share int64, signing chain.Signing) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	defer cancel()
	answer, err := node.Client.SetLoad(ctx, chain.LoadTarget{
		TransfersPerSecond: share, Workload: d.Load.Workload, Signing: signing,
	})
	if err != nil {
		return err
	}
	if answer.TransfersPerSecond != share {
		return fmt.Errorf("told to sign %d transfers per second, it answers %d", share, answer.TransfersPerSecond)
	}
	if !answer.Workload.Same(d.Load.Workload) {
		return fmt.Errorf("told to sign the workload %+v, it answers %+v", d.Load.Workload, answer.Workload)
	}
	if !answer.Signing.Same(signing) {
		return fmt.Errorf("told that signing is %q, it answers %q", signing, answer.Signing)
	}
	return nil
}
