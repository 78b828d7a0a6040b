// SPDX-License-Identifier: Apache-2.0

package control

import (
	"math"
	"time"
)

const (
	// steadyTimes is how many target block times a rate has to be steady for,
	// steadyRange how far the mean of the second half of them may be from that of
	// the first, and steadyError how far the mean error may be from none.
	steadyTimes = 20
	steadyRange = 0.03
	steadyError = 0.1
)

// dated is a rate at a time, and the error then.
type dated struct {
	at          time.Time
	rate, error float64
	// bound says that the rate was as high as it may be.
	bound bool
}

// given are the rates that a chain was given lately.
type given struct {
	rates []dated
}

func (g *given) add(at time.Time, rate float64, span time.Duration) {
	g.rates = append(g.rates, dated{at: at, rate: rate})
	for len(g.rates) > 1 && at.Sub(g.rates[1].at) > span {
		g.rates = g.rates[1:]
	}
}

// least is the lowest of them: whatever is executed now was given at no less.
func (g *given) least() float64 {
	least := math.Inf(1)
	for _, given := range g.rates {
		least = min(least, given.rate)
	}
	return least
}

// history are the rates of the time that a rate has to be steady for.
type history struct {
	span  time.Duration
	rates []dated
	// since is when the first of them began.
	since time.Time
}

func (h *history) add(at time.Time, rate, err float64, bound bool) {
	if len(h.rates) == 0 {
		h.since = at
	}
	h.rates = append(h.rates, dated{at: at, rate: rate, error: err, bound: bound})
	for len(h.rates) > 1 && at.Sub(h.rates[1].at) > h.span {
		h.rates = h.rates[1:]
	}
}

// steady says whether the rate has been steady: at the error that it should have,
// or most of the time as high as it may be.
func (h *history) steady() bool {
	count := len(h.rates)
	if count < 2 || h.rates[count-1].at.Sub(h.since) < h.span {
		return false
	}
	first, second := mean(h.rates[:count/2]), mean(h.rates[count/2:])
	if math.Abs(second.rate-first.rate) > steadyRange*first.rate {
		return false
	}
	all, bound := mean(h.rates), 0
	for _, dated := range h.rates {
		if dated.bound {
			bound++
		}
	}
	return math.Abs(all.error) <= steadyError || (all.error < 0 && bound > count/2)
}

// mean is the mean rate and error of some.
func mean(rates []dated) dated {
	var mean dated
	for _, dated := range rates {
		mean.rate += dated.rate / float64(len(rates))
		mean.error += dated.error / float64(len(rates))
	}
	return mean
}
