// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

// model is a network of two shards with two producers each of which it is known
// how long everything takes, because it is computed here.
type model struct {
	// minBlockTime is between the begin of a leader's turn and its block.
	minBlockTime time.Duration
	// extra is how much longer than usual a span takes.
	extra func(span trace.Span) time.Duration
	// lag is how many blocks after its chunk an execution is committed to.
	lag uint64
	// link is how long a message takes.
	link func(from, to int) time.Duration
}

const (
	nodes  = 4
	quorum = 3
)

var regions = [nodes]string{"north", "south", "north", "west"}

func usual() *model {
	return &model{
		minBlockTime: time.Millisecond,
		lag:          1,
		extra:        func(trace.Span) time.Duration { return 0 },
		link:         func(int, int) time.Duration { return time.Millisecond },
	}
}

func nodeName(node int) string { return fmt.Sprintf("n%d", node) }

// chain is a chain under way.
type chain struct {
	*model
	height uint64
	spans  []trace.Span
	// stored is when each node had the last block, and storedAt when it had each.
	stored   [nodes]time.Time
	storedAt map[uint64][nodes]time.Time
	// executed is when each node had executed last.
	executed [nodes]time.Time
}

// run has so many blocks made, and returns the spans.
func (m *model) run(blocks int) []trace.Span {
	c := &chain{model: m, storedAt: map[uint64][nodes]time.Time{}}
	for node := range c.stored {
		c.stored[node] = time.UnixMilli(1_790_000_000_000)
	}
	c.storedAt[0] = c.stored
	for range blocks {
		c.height++
		c.block()
	}
	return c.spans
}

// does records that a node did something, and returns when that ended. It ends
// no earlier than whatever else it waits for.
func (c *chain) does(node int, name string, shard int, begin time.Time, takes time.Duration, waits ...time.Time) time.Time {
	span := trace.Span{
		Name: name, Height: c.height, Shard: shard, View: c.height,
		Node: nodeName(node), Region: regions[node], Begin: begin,
	}
	for _, other := range waits {
		begin = latest(begin, other)
	}
	if executions[name] {
		span.Executed = c.executedHeight()
	}
	span.End = begin.Add(takes + c.extra(span))
	c.spans = append(c.spans, span)
	return span.End
}

// executions are the spans of an execution.
var executions = map[string]bool{"gather": true, "execute": true, "record": true}

// executedHeight is that of the chunks whose execution the next block commits to: 0 of
// the first ones.
func (c *chain) executedHeight() uint64 { return c.height - min(c.height, c.lag) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// at is when a quorum of what nodes sent at these times is at a node.
func (c *chain) at(node int, sent [nodes]time.Time) time.Time {
	arrived := make([]time.Time, 0, nodes)
	for from, when := range sent {
		if from != node {
			when = when.Add(c.link(from, node))
		}
		arrived = append(arrived, when)
	}
	slices.SortFunc(arrived, time.Time.Compare)
	return arrived[quorum-1]
}

// block makes the next block.
func (c *chain) block() {
	const ms = time.Millisecond
	none, leader, before := trace.NoShard, int(c.height)%nodes, c.stored
	var atHand [nodes]time.Time
	collected, begin := before[leader], before[leader]
	for shard := range 2 {
		producer := 2*shard + int(c.height)%2
		var executed [nodes]time.Time
		for _, node := range []int{2 * shard, 2*shard + 1} {
			gathered := c.does(node, "gather", shard, latest(c.storedAt[c.executedHeight()][node], c.executed[node]), 0)
			executed[node] = c.does(node, "record", shard, c.does(node, "execute", shard, gathered, 2*ms), ms)
			c.executed[node] = executed[node]
		}
		divided := c.does(producer, "divide", shard, c.does(producer, "take", shard, latest(before[producer], executed[producer]), ms), ms)
		header := c.does(producer, "record_header", shard, divided, ms)
		body := c.does(producer, "record_body", shard, header, ms)
		sent := c.does(producer, "distribute", shard, body, ms/10)
		made := c.does(producer, "witness_make", shard, header, 3*ms)
		witness := c.does(producer, "witness_distribute", shard, made, ms/10)

		var endorsed [nodes]time.Time
		for node := range nodes {
			heard := sent
			if node != producer {
				heard = sent.Add(c.link(producer, node))
			}
			switch {
			case node == producer:
				atHand[node] = latest(atHand[node], sent)
				endorsed[node] = c.does(node, "compare", shard, sent, 0)
			case node/2 == shard:
				held := c.does(node, "receive_body", shard, heard, ms)
				atHand[node] = latest(atHand[node], held)
				endorsed[node] = c.does(node, "compare", shard, heard, 0, held, executed[node])
			default:
				atHand[node] = latest(atHand[node], c.does(node, "receive_part", shard, heard, ms/2))
				received := c.does(node, "witness_receive", shard, witness.Add(c.link(producer, node)), ms/2)
				endorsed[node] = c.does(node, "validate", shard, latest(received, heard), 4*ms)
			}
			endorsed[node] = c.does(node, "endorse", shard, endorsed[node], ms/10)
		}
		found := c.does(leader, "endorsed", shard, begin, 0, c.at(leader, endorsed), atHand[leader])
		collected = latest(collected, found)
	}
	collected = c.does(leader, "collect", none, begin, 0, collected)
	if earliest := begin.Add(c.minBlockTime); earliest.After(collected) {
		collected = c.does(leader, "pace", none, collected, earliest.Sub(collected))
	}
	proposed := c.does(leader, "propose", none, collected, ms/2)

	var voted, notarised [nodes]time.Time
	for node := range nodes {
		voted[node] = proposed
		if node != leader {
			voted[node] = c.does(node, "verify", none, proposed.Add(c.link(leader, node)), ms, atHand[node])
		}
	}
	for node := range nodes {
		notarised[node] = c.does(node, "notarise", none, voted[node], 0, c.at(node, voted))
	}
	for node := range nodes {
		final := c.does(node, "finalise", none, notarised[node], 0, c.at(node, notarised))
		c.stored[node] = c.does(node, "record_block", none, final, ms)
	}
	c.storedAt[c.height] = c.stored
	c.spans = append(c.spans, trace.Span{
		Name: "block", Height: c.height, Shard: none, Node: nodeName(leader), Region: regions[leader],
		Begin: before[leader], End: c.stored[leader],
	})
}
