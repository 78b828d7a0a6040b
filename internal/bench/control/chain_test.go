// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/shardyard/shardyard/internal/bench/control"
)

// model is a chain as the controller assumes it: a block takes a fixed time and a
// time for each transfer that it executes, which are those that the block before
// included. It is given load in steps of ten milliseconds.
type model struct {
	// fixed is the time of a block without transfers, at least minBlock, and
	// capacity the transfers per second on top of that.
	fixed, minBlock time.Duration
	capacity        float64
	// chunkMost is the most transfers of a chunk; 0 for any number.
	chunkMost float64
	shards    int
	// jitter is how far a block's time may be from what it should be, as a share.
	jitter float64
	// growth is how much more a transfer takes in a block of a second, and drift how
	// far the capacity wanders, as a share, within half a minute or so.
	growth, drift float64
	// late is how much longer a block takes now and then, because the machine does
	// something else.
	late time.Duration
	// wait is how long a leader waits for chunks: what takes longer is missed, and
	// is in the pool again; the next chunks have half as many. 0 for any time.
	wait time.Duration
	// signing is the most that generators sign per second; 0 for any number.
	signing float64
	random  *rand.Rand
	seed    uint64

	now       time.Time
	due       time.Time
	pool      float64
	included  float64
	overdue   float64
	executed  float64
	height    uint64
	finalized time.Time
	missed    uint64
	// ceiling is the most that misses leave of chunkMost.
	ceiling float64
	// stopped keeps blocks from being finalised.
	stopped bool
	// wandered is where the capacity is.
	wandered float64
}

// lateShare is the share of blocks that the machine is late with.
const lateShare = 0.025

const tick = 10 * time.Millisecond

func (m *model) start() {
	m.now = time.Unix(1_790_000_000, 0)
	m.finalized = m.now
	m.random = rand.New(rand.NewPCG(7, 11+m.seed))
	m.shards = max(m.shards, 1)
	m.ceiling = m.chunkMost
	m.due = m.now.Add(m.blockTime(0))
}

func (m *model) blockTime(executes float64) time.Duration {
	took := executes / m.capacity / (1 + m.wandered)
	work := m.fixed + time.Duration(took*(1+m.growth*took)*float64(time.Second))
	work = max(work, m.minBlock)
	return time.Duration(float64(work) * (1 + m.jitter*(2*m.random.Float64()-1)))
}

// run lets time pass under a load.
func (m *model) run(rate float64, span time.Duration) {
	for end := m.now.Add(span); m.now.Before(end); {
		m.now = m.now.Add(tick)
		signed := rate
		if m.signing > 0 && signed > m.signing {
			m.overdue += (signed - m.signing) * tick.Seconds()
			signed = m.signing
		}
		m.pool += signed * tick.Seconds()
		if !m.stopped && !m.now.Before(m.due) {
			m.finalize()
		}
	}
}

func (m *model) finalize() {
	if m.drift > 0 {
		const back = 0.05
		m.wandered += -back*m.wandered + m.drift*math.Sqrt(2*back)*m.random.NormFloat64()
	}
	m.height++
	m.finalized = m.now
	m.executed += m.included
	m.included = m.pool
	if m.chunkMost > 0 {
		m.included = min(m.included, m.ceiling*float64(m.shards))
	}
	m.pool -= m.included
	next := m.blockTime(m.included)
	if m.wait > 0 && next > m.fixed+m.wait {
		m.missed += uint64(m.shards)
		m.pool += m.included
		m.included = 0
		next = m.fixed + m.wait
		m.ceiling = max(m.ceiling/2, min(256, m.chunkMost))
	} else {
		m.ceiling = min(m.ceiling+m.chunkMost/32, m.chunkMost)
	}
	if m.late > 0 && m.random.Float64() < lateShare {
		next += m.late
	}
	m.due = m.now.Add(next)
}

func (m *model) observe() control.Observation {
	return control.Observation{
		At: m.now, FinalizedHeight: m.height, FinalizedTime: m.finalized, Executed: uint64(m.executed),
		MissedChunks: m.missed, Shards: m.shards, Pooled: uint64(m.pool), Overdue: uint64(m.overdue),
	}
}

// steady is the rate at which the blocks of a chain take a time.
func (m *model) steady(target time.Duration) float64 {
	return m.capacity * (1 - m.fixed.Seconds()/target.Seconds())
}
