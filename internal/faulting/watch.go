// SPDX-License-Identifier: Apache-2.0

package faulting

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// askInterval is how often each validator is asked for its status, and whoever
	// knows it for the newest blocks.
	askInterval = 200 * time.Millisecond

	// askTimeout is how long a validator may take to tell its status.
	askTimeout = time.Second

	// blocksPatience is how long the blocks of a period may take to be told.
	blocksPatience = 10 * time.Second

	// silence is how often in a row a validator that is gone does not tell its status: one
	// that is busy may be late.
	silence = 3

	// transit is how many blocks may be on their way when a period begins: they are of
	// the one before, whenever they become final.
	transit = 1
)

// watch asks the validators of a network, each on its own, so that one that hangs
// delays nobody else, and keeps what they tell.
type watch struct {
	// action is that of the fault.
	action  v1alpha1.FaultAction
	nodes   []*watched
	running sync.WaitGroup
	cancel  context.CancelFunc

	mu sync.Mutex
	// blocks are all finalised blocks since the watch began, without gaps.
	blocks []*chain.Block
	// now is the time that was begun last.
	now *period
	// best is the highest finalised block that anybody told of, and moved when it was
	// told of.
	best  uint64
	moved time.Time
	// endorsed are the last chunks of the shards whose endorsements were looked at.
	endorsed map[int]uint64
}

// period is a time that the network is watched in, with what is seen but for the
// blocks.
type period struct {
	fault.Sighting

	began time.Time
	// from and to are the highest finalised blocks that were told of when it began and
	// when it ended. What is finalised in between is of it, whenever it is told.
	from, to uint64
}

// watched is a validator that is asked.
type watched struct {
	name   string
	client *chain.Client
	// doubted says that what it tells of the chain does not count, at any time.
	doubted bool
	// first is what it told first, before the fault, and last what it told last.
	first, last *chain.Status
	// silent is how often in a row it did not tell its status in the current period.
	silent int
	// tells says whether it answered when it was asked last, for its status or for a block.
	tells bool
}

// startWatch begins to ask all validators. It goes on until it is stopped.
func startWatch(ctx context.Context, options *Options) *watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{action: options.Spec.Action, cancel: cancel, endorsed: map[int]uint64{}}
	w.begin()
	for i := range options.Plan.Nodes {
		name := options.Plan.Nodes[i].Name
		node := &watched{name: name, client: chain.NewClient(options.Address(name), chain.Admin{})}
		node.doubted = fault.IsByzantine(w.action) &&
			slices.ContainsFunc(options.Scope, func(v topology.Validator) bool { return v.Name == name })
		w.nodes = append(w.nodes, node)
	}
	for _, node := range w.nodes {
		w.running.Go(func() { every(ctx, func() { w.ask(ctx, node) }) })
	}
	w.running.Go(func() { every(ctx, func() { w.follow(ctx) }) })
	return w
}

// every does something again and again until the context is done.
func every(ctx context.Context, do func()) {
	ticker := time.NewTicker(askInterval)
	defer ticker.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (w *watch) stop() {
	w.cancel()
	w.running.Wait()
	for _, node := range w.nodes {
		node.client.Close()
	}
}

// begin begins another period, and ends the one before, which it returns.
func (w *watch) begin() *period {
	w.mu.Lock()
	defer w.mu.Unlock()
	ended, now := w.now, time.Now()
	if ended != nil {
		ended.Duration = now.Sub(ended.began)
		// The wait that goes on counts too.
		ended.LongestWait = max(ended.LongestWait, now.Sub(w.moved))
		ended.to = w.best
	}
	for _, node := range w.nodes {
		node.silent = 0
	}
	w.moved = now
	w.now = &period{began: now, from: w.best, Sighting: fault.Sighting{Answers: map[string]fault.Answers{}}}
	return ended
}

// elapsed is how long the current period goes on.
func (w *watch) elapsed() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.now.began)
}

// made is how many blocks were finalised in the current period.
func (w *watch) made() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(int(w.best-w.now.from)-transit, 0)
}

// height is the highest finalised block that anybody told of.
func (w *watch) height() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.best
}

// gone says whether one of some validators does not answer, or began anew in the
// current period.
func (w *watch) gone(names []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.nodes, func(node *watched) bool {
		return slices.Contains(names, node.name) && (node.silent >= silence || w.now.Answers[node.name].Restarted)
	})
}

// keepRestarts has validators that began anew in the period that ended last count as
// such in the current one.
func (w *watch) keepRestarts(ended *period) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, before := range ended.Answers {
		answers := w.now.Answers[name]
		answers.Restarted = answers.Restarted || before.Restarted
		w.now.Answers[name] = answers
	}
}

// seen is what was seen in a period that has ended, with as many of its blocks as are
// told soon.
func (w *watch) seen(ctx context.Context, ended *period) (*fault.Sighting, error) {
	err := until(ctx, blocksPatience, func() bool { return w.told() >= ended.to })
	if err != nil && !errors.Is(err, errLate) {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	sighting := ended.Sighting
	for _, block := range w.blocks {
		if block.Height >= ended.from+transit && block.Height <= ended.to {
			sighting.Blocks = append(sighting.Blocks, block)
		}
	}
	return &sighting, nil
}

// told is the highest block that is there.
func (w *watch) told() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.blocks) == 0 {
		return 0
	}
	return w.blocks[len(w.blocks)-1].Height
}

// ask asks a validator for its status once.
func (w *watch) ask(ctx context.Context, node *watched) {
	w.mu.Lock()
	asked := w.now
	w.mu.Unlock()
	askCtx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	status, err := node.client.Status(askCtx)
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && node.first == nil {
		node.first = status
	}
	// What was asked in the period before says nothing of this one.
	if asked == w.now {
		answers := w.now.Answers[node.name]
		answers.Asked++
		node.silent++
		if err == nil {
			node.silent = 0
			answers.Answered++
			if fault.Shows(w.action, node.first, status) {
				answers.Impaired++
			}
		}
		w.now.Answers[node.name] = answers
	}
	node.tells = err == nil
	if err == nil {
		w.take(node, status)
	}
}

// take takes the status of a validator.
func (w *watch) take(node *watched, status *chain.Status) {
	if node.last != nil && status.CPUSeconds < node.last.CPUSeconds {
		answers := w.now.Answers[node.name]
		answers.Restarted = true
		w.now.Answers[node.name] = answers
	}
	node.last = status
	if node.doubted || status.FinalizedHeight <= w.best {
		return
	}
	now := time.Now()
	w.now.LongestWait = max(w.now.LongestWait, now.Sub(w.moved))
	w.best, w.moved = status.FinalizedHeight, now
	for i := range status.Shards {
		shard := &status.Shards[i]
		if shard.MandatedStake == 0 || shard.ChunkHeight <= w.endorsed[shard.Shard] {
			continue
		}
		w.endorsed[shard.Shard] = shard.ChunkHeight
		w.now.Endorsed.Chunks++
		if shard.EndorsedStake < shard.MandatedStake {
			w.now.Endorsed.Partly++
		}
	}
}

// follow asks for the blocks that were finalised since the last time. One that
// nobody tells is asked for again the next time.
func (w *watch) follow(ctx context.Context) {
	for {
		source, height := w.source()
		if source == nil {
			return
		}
		block, err := source.client.Block(ctx, height)
		w.mu.Lock()
		if err != nil {
			// It is asked again once it has answered again.
			source.tells = false
			w.mu.Unlock()
			return
		}
		for i := range block.Chunks {
			// What executions came to is not looked at, and there may be many blocks.
			block.Chunks[i].Results = nil
		}
		w.blocks = append(w.blocks, block)
		w.mu.Unlock()
	}
}

// source is a validator that can tell the next block, and the block's height; nil if
// there is none. The first block is the newest one.
func (w *watch) source() (*watched, uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.best
	if len(w.blocks) > 0 {
		next = w.blocks[len(w.blocks)-1].Height + 1
	}
	if next > w.best || next == 0 {
		return nil, 0
	}
	for _, node := range w.nodes {
		if node.tells && !node.doubted && node.last.FinalizedHeight >= next {
			return node, next
		}
	}
	return nil, 0
}
