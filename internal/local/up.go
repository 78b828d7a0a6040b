// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/machinenodes"
	"github.com/shardyard/shardyard/internal/local/page"
	"github.com/shardyard/shardyard/internal/local/supervision"
)

// Options say what to run and how.
type Options struct {
	// Manifest is the path of the ShardNetwork manifest.
	Manifest string
	// StateDir is the folder that networks are kept in.
	StateDir string
	// Shardnode is the path of the node program.
	Shardnode string
	// Fresh removes the network first if it is there.
	Fresh bool
	// Duration is how long the network carries its load; 0 for as long as the
	// context lasts.
	Duration time.Duration
	// ReadyTimeout is how long the validators may take to become ready.
	ReadyTimeout time.Duration
	// TraceBasisPoints is how many of 10,000 heights are traced, with the spans
	// kept in the network's folder; 0 leaves tracing to the manifest.
	TraceBasisPoints int32
	// Page says where what happens can be seen.
	Page page.Options
	// Progress is where progress is shown.
	Progress io.Writer
}

// Up runs a network until the context is done, or the duration or the lifetime
// of the network is over. No process is left when it returns. With an error,
// there is a summary only if the run came to its end and the chain is at fault.
func Up(ctx context.Context, options Options) (_ *Summary, err error) {
	console := console.New(options.Progress)
	network, err := openNetwork(options.Manifest, options.StateDir, options.Fresh)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	load, err := loading.New(network.Manifest.Spec.Load)
	if err != nil {
		return nil, err
	}
	introduce(console, network)
	if network.page, err = page.Listen(ctx, options.Page); err != nil {
		return nil, err
	}
	if network.page != nil {
		defer func() { err = errors.Join(err, network.page.Close()) }()
		console.Printf("page %s", network.page.URL())
	}
	if network.spans, err = collectSpans(ctx, network.Dir, options.TraceBasisPoints); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, network.spans.close()) }()
	if network.spans != nil {
		console.Printf("spans are kept in %s", network.Dir.Spans())
	}
	ctx, cancel, err := network.untilEnd(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	defer func() { err = errors.Join(err, network.leave(console, err)) }()

	var summary *Summary
	err = network.whileUp(ctx, options.Shardnode, console, func(group *supervision.Group) (err error) {
		defer network.page.Show(ctx, network.Network, group, network.spans.traces())()
		defer network.obey(ctx, group)()
		summary, err = carryOut(ctx, group, network, load, options)
		return err
	})
	return summary, err
}

// whileUp runs all validators of a network for as long as serve lasts. No process
// is left when it returns.
func (n *network) whileUp(
	ctx context.Context, shardnode string, console *console.Console, serve func(*supervision.Group) error,
) (err error) {
	if err := n.Dir.ForgetChain(); err != nil {
		return err
	}
	nodes, guards, err := machinenodes.Prepare(ctx, n.Network, n.spans.tracing())
	if err != nil {
		return err
	}
	n.guards = append(n.guards, guards...)
	group := supervision.New(supervision.NewProcessesFile(n.Dir, n.Manifest.Name, n.page.URL()), nodes, shardnode, console)
	console.Printf("starting %s; their processes and ports are in %s", crew(n.Plan), n.Dir.Runtime())
	group.Start()
	defer func() {
		console.Settle()
		console.Printf("stopping %s", crew(n.Plan))
		err = errors.Join(err, group.Stop())
	}()

	err = serve(group)
	if log, ok := logOf(err); ok {
		console.Settle()
		console.PrintLogTail(log)
	}
	return err
}

// carryOut runs a group that has been started to the end of its run.
func carryOut(ctx context.Context, group *supervision.Group, network *network, load *loading.Load, options Options) (*Summary, error) {
	started := time.Now()
	if err := group.AwaitReady(ctx, options.ReadyTimeout); err != nil {
		return nil, err
	}
	run, err := beginRun(ctx, group, load, options.ReadyTimeout)
	if err != nil {
		return nil, err
	}
	group.Console.Printf("ready after %.1f s at height %s, genesis hash %s",
		time.Since(started).Seconds(), console.Thousands(run.base.FinalizedHeight), run.base.GenesisHash)

	carryCtx := ctx
	if options.Duration > 0 {
		var cancel context.CancelFunc
		carryCtx, cancel = context.WithDeadline(ctx, run.window.Begin.Add(options.Duration))
		defer cancel()
	}
	if err := run.carry(carryCtx); err != nil {
		return nil, err
	}
	group.Console.Settle()
	ended := time.Now()
	measured, err := run.finish(context.WithoutCancel(ctx))
	standstill := run.standsStill(ended, standstillAfter(network.Manifest))
	if standstill == nil && run.interruptedAtOnce(ctx, err) {
		group.Console.Printf("interrupted before there was anything to measure")
		err = nil
	}
	return run.summarize(network, measured), errors.Join(run.violation, standstill, err, network.Dir.KeepChain(run.last))
}

// introduce says what is about to run.
func introduce(c *console.Console, network *network) {
	plan := network.Plan
	c.Printf("network %s: %s, %s, in %s", plan.Network,
		console.Plural(plan.Shards, "shard"), crew(plan), network.Dir)
	for _, line := range Inapplicable(network.Manifest) {
		c.Printf("%s", line)
	}
	created := time.UnixMilli(network.Genesis.CreatedAtMs).Format(time.DateTime)
	if network.Resumed {
		c.Printf("resuming the chain of %s", created)
		return
	}
	c.Printf("made the keys of %s", crew(plan))
	c.Printf("made the genesis document of %s", accounts(network))
}

func accounts(network *network) string {
	return fmt.Sprintf("%s accounts", console.Thousands(int64(network.Genesis.Shards)*int64(network.Genesis.Accounts.PerShard)))
}

// logOf is the log that tells more about an error.
func logOf(err error) (string, bool) {
	if failed, ok := errors.AsType[*supervision.ValidatorError](err); ok {
		return failed.Log, true
	}
	if late, ok := errors.AsType[*supervision.NotReadyError](err); ok {
		return late.Log, true
	}
	return "", false
}
